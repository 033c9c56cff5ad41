// SPDX-License-Identifier: BSD-3-Clause
// Part of hocket.hpp: contexts and requests as objects that clean up after themselves.
//
// Thread safety: as in hocket.h.
#pragma once

#include <hocket/elements.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace hocket {

class Context {
 public:
  Context() { check(hocket_context_create(nullptr, &context_)); }
  explicit Context(const hocket_context_options_t& options) { check(hocket_context_create(&options, &context_)); }
  ~Context() { hocket_context_destroy(context_); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  hocket_context_t* get() const noexcept { return context_; }

  struct Free {
    hocket_context_t* context;
    void operator()(void* memory) const noexcept { hocket_free(context, memory); }
  };
  // Memory that peers map (hocket_alloc), its elements not initialised. Must go before the context.
  template <typename T>
  std::unique_ptr<T[], Free> allocate(size_t count) {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
    if (count > SIZE_MAX / sizeof(T)) throw Error(HOCKET_ERR_NO_MEMORY, "more memory than there are addresses");
    void* memory = nullptr;
    check(hocket_alloc(context_, count * sizeof(T), &memory));
    return {static_cast<T*>(memory), Free{context_}};
  }

 private:
  hocket_context_t* context_ = nullptr;
};

// A collective that has been started. One that is still running when it goes is waited for, its error lost; if an
// exception ends its scope, its communicator is given up instead (hocket_comm_abort), for peers may never come.
class Request {
 public:
  Request() = default;
  Request(hocket_comm_t* comm, hocket_request_t* request) : comm_(comm), request_(request) {}
  ~Request() {
    if (request_ != nullptr && unwinding_) hocket_comm_abort(comm_, detail::kUnwinding);
    hocket_wait(&request_);
  }
  Request(Request&& other) noexcept : comm_(other.comm_), request_(std::exchange(other.request_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    if (this != &other) {
      hocket_wait(&request_);
      comm_ = other.comm_;
      request_ = std::exchange(other.request_, nullptr);
    }
    return *this;
  }
  // True when it is complete.
  bool test() {
    const hocket_status_t status = hocket_test(&request_);
    check(status);
    return status == HOCKET_OK;
  }
  void wait() { check(hocket_wait(&request_)); }

 private:
  hocket_comm_t* comm_ = nullptr;
  hocket_request_t* request_ = nullptr;
  detail::Unwinding unwinding_;
};

}  // namespace hocket
