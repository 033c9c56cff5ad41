// SPDX-License-Identifier: BSD-3-Clause
// hocket's active calls among the requests of one call of the MPI, found once for all polls of that call. The MPI gets
// the program's array as it is: it takes hocket's requests for inactive ones.
//
// Thread safety: one thread; the array is the caller's meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "shim/requests/started_call.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

inline int count_requests(const MPI_Request* requests, int count) {
  int number = 0;
  for (int i = 0; i < count; ++i) number += requests[i] != handles.request_null ? 1 : 0;
  return number;
}

class StartedAmong {
 public:
  struct One {
    int index;
    StartedCall* call;
  };

  // nullptr: the MPI reports the error.
  StartedAmong(const MPI_Request* requests, int count) {
    if (requests != nullptr && count > 0) find(requests, count);
  }
  StartedAmong(const StartedAmong&) = delete;
  StartedAmong& operator=(const StartedAmong&) = delete;

  bool is_empty() const { return size_ == 0; }
  std::span<const One> all() const { return {many_ != nullptr ? many_.get() : few_, size_}; }
  // Whether there are requests that are neither null nor hocket's active ones.
  bool has_others() const { return has_others_; }
  bool are_over() const {
    for (const One& one : all())
      if (!is_over(*one.call)) return false;
    return true;
  }
  const One* first_over() const {
    for (const One& one : all())
      if (is_over(*one.call)) return &one;
    return nullptr;
  }

 private:
  void find(const MPI_Request* requests, int count);
  void add(One one, int most);

  static constexpr size_t kFew = 16;
  size_t size_ = 0;
  bool has_others_ = false;
  std::unique_ptr<One[]> many_;  // instead of `few_`
  One few_[kFew];
};

}  // namespace hocket::interposer
