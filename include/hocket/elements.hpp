// SPDX-License-Identifier: BSD-3-Clause
// Of the C++ header: errors, element types, and operations of the program's own. Included by hocket.hpp.
//
// Thread safety: as in hocket.h.
#pragma once

#if __cplusplus < 202002L
#error "hocket.hpp needs C++20: compile with -std=c++20"
#endif

#include <hocket/hocket.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace hocket {

namespace detail {

// Whether an exception has come up since this was made: then a destructor must not wait for ranks that wait for this
// one elsewhere.
class Unwinding {
 public:
  explicit operator bool() const noexcept { return std::uncaught_exceptions() > before_; }

 private:
  int before_ = std::uncaught_exceptions();
};

inline constexpr const char* kUnwinding = "an exception has ended what used it";

}  // namespace detail

class Error : public std::runtime_error {
 public:
  Error(hocket_status_t status, const std::string& text) : std::runtime_error(text), status_(status) {}
  hocket_status_t status() const noexcept { return status_; }

 private:
  hocket_status_t status_;
};

inline void check(hocket_status_t status) {
  if (status < 0) throw Error(status, std::string(hocket_status_name(status)) + ": " + hocket_error_text());
}

// The element type of T: a number's own, or an opaque one for whatever can be copied byte by byte, which only user
// operations combine.
template <typename T>
constexpr hocket_type_t type_of() {
  static_assert(std::is_trivially_copyable_v<T>, "elements are moved byte by byte");
  if constexpr (std::is_same_v<T, bool>) return HOCKET_BOOL;
  if constexpr (std::is_same_v<T, std::byte>) return HOCKET_BYTE;
  if constexpr (std::is_integral_v<T>) {
    constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return static_cast<hocket_type_t>((std::is_signed_v<T> ? HOCKET_INT8 : HOCKET_UINT8) + kWidth);
  }
  if constexpr (std::is_same_v<T, float>) return HOCKET_FLOAT;
  if constexpr (std::is_same_v<T, double>) return HOCKET_DOUBLE;
  if constexpr (std::is_same_v<T, long double>) return HOCKET_LONG_DOUBLE;
  if constexpr (std::is_same_v<T, std::complex<float>>) return HOCKET_COMPLEX_FLOAT;
  if constexpr (std::is_same_v<T, std::complex<double>>) return HOCKET_COMPLEX_DOUBLE;
  if constexpr (std::is_same_v<T, std::complex<long double>>) return HOCKET_COMPLEX_LONG_DOUBLE;
  return HOCKET_TYPE_OPAQUE(sizeof(T));
}

// An operation of the program's own on elements T: `combine(left, right)` gives the result. Must outlive the calls that
// use it.
template <typename T, typename Combine>
class Op {
 public:
  explicit Op(Combine combine, bool commutative = false) : combine_(std::make_unique<Combine>(std::move(combine))) {
    check(hocket_op_create(&run, combine_.get(), commutative ? 1 : 0, &op_));
  }
  ~Op() { hocket_op_destroy(op_); }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  operator hocket_op_t() const noexcept { return op_; }  // NOLINT: stands for the operation wherever one is wanted

 private:
  static void run(const void* in, void* inout, size_t count, hocket_type_t, void* user) {
    const Combine& combine = *static_cast<const Combine*>(user);
    const T* left = static_cast<const T*>(in);
    T* right = static_cast<T*>(inout);
    for (size_t i = 0; i < count; ++i) right[i] = combine(left[i], right[i]);
  }

  std::unique_ptr<Combine> combine_;
  hocket_op_t op_ = nullptr;
};

template <typename T, typename Combine>
Op<T, Combine> make_op(Combine combine, bool commutative = false) {
  return Op<T, Combine>(std::move(combine), commutative);
}

namespace detail {

// What hocket.h wants of a span that may be the very memory where the result, or its block, lies: in place.
template <typename T>
const void* from(std::span<const T> input, const T* place) {
  return !input.empty() && input.data() == place ? HOCKET_IN_PLACE : input.data();
}
template <typename T>
void* to(std::span<T> output, const T* place) {
  return !output.empty() && output.data() == place ? const_cast<void*>(HOCKET_IN_PLACE) : output.data();
}

}  // namespace detail

}  // namespace hocket
