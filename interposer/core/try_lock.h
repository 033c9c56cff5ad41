// SPDX-License-Identifier: BSD-3-Clause
// A lock that is held for moments, or asked for by threads that can do without it. Unlike a mutex it may be tried by
// the thread that holds it.
//
// Thread safety: any thread.
#pragma once

#include <sched.h>

#include <atomic>

namespace hocket::interposer {

class TryLock {
 public:
  // Acquire, with the release in unlock(): its holder sees what the one before has done.
  bool try_lock() { return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock()) sched_yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace hocket::interposer
