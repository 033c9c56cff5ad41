// SPDX-License-Identifier: BSD-3-Clause
// One object of a type for each thread, made when it is first asked for. It goes with the thread, but not with the
// process, as one that is thread_local would: programs call from destructors of static objects and functions of
// atexit(), which run after the last thread's thread_local objects are gone.
//
// Thread safety: any thread; an object is its thread's.
#pragma once

#include <pthread.h>

#include <optional>

namespace hocket {

template <typename T>
class ThreadOwned {
 public:
  // Throws std::bad_alloc the first time, if there is no memory.
  static T& get() {
    if (mine_ == nullptr) [[unlikely]]
      make();
    return *mine_;
  }

 private:
  static void make() {
    static const std::optional<pthread_key_t> key = create_key();
    mine_ = new T;
    // What the system has no key for stays when the thread goes.
    if (key) pthread_setspecific(*key, mine_);
  }
  static std::optional<pthread_key_t> create_key() {
    pthread_key_t key{};
    if (pthread_key_create(&key, destroy) != 0) return std::nullopt;
    return key;
  }
  // A destructor that runs later in the same thread and asks again gets another object.
  static void destroy(void* object) {
    mine_ = nullptr;
    delete static_cast<T*>(object);
  }

  static inline thread_local T* mine_ __attribute__((tls_model("initial-exec"))) = nullptr;
};

}  // namespace hocket
