// SPDX-License-Identifier: BSD-3-Clause
// What an operation inside hocket answers: nothing went wrong, or a code and a sentence for the user.
//
// Invariant: an ok Status holds no allocation, so that returning it costs a register on the fast path.
//
// Thread safety: a value.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace hocket {

// The values are those of hocket_status_t; src/c_api checks that they stay so.
enum class Code : int {
  kOk = 0,
  kInProgress = 1,
  kInvalidArgument = -1,
  kNotSupported = -2,
  kNoMemory = -3,
  kPeerFailed = -4,
  kMismatch = -5,
  kSystem = -6,
  kTimeout = -7,
  kBroken = -8,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::make_unique<std::string>(std::move(message))) {}

  static Status ok() { return {}; }
  // A system call failed: the sentence ends with the text of `error_number`.
  static Status system(const std::string& what, int error_number);
  // The same, where it is worth saying which call: a sandbox may refuse it, and then only its keeper can help.
  static Status system_call(const std::string& what, const char* call, int error_number);

  bool is_ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const char* message() const { return message_ ? message_->c_str() : ""; }

 private:
  Code code_ = Code::kOk;
  std::unique_ptr<std::string> message_;
};

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit by intent
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: implicit by intent

  bool is_ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T take() { return std::move(std::get<0>(state_)); }
  Status take_status() { return is_ok() ? Status::ok() : std::move(std::get<1>(state_)); }
  const Status& status() const { return std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace hocket

// Leaves the function with the status unless it is ok.
#define HOCKET_TRY(expression)                                                                          \
  do {                                                                                                  \
    if (::hocket::Status hocket_status_ = (expression); !hocket_status_.is_ok()) return hocket_status_; \
  } while (false)
