// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/started_among.h"

#include <algorithm>

namespace hocket::interposer {
namespace {

// Whether a handle may be between the bounds: compares the low halves of differences, which SSE2 can do for several.
bool may_have_own(const MPI_Request* requests, int count, uint64_t least, uint64_t greatest) {
  const auto span = static_cast<uint32_t>(std::min<uint64_t>(greatest - least, UINT32_MAX));
  const auto low = static_cast<uint32_t>(least);
  uint32_t is_any = 0;
  for (int i = 0; i < count; ++i) is_any |= static_cast<uint32_t>(handle_number(requests[i])) - low <= span ? 1 : 0;
  return is_any != 0;
}

}  // namespace

void StartedAmong::add(One one, int most) {
  if (size_ == kFew && many_ == nullptr) {
    many_ = std::make_unique_for_overwrite<One[]>(static_cast<size_t>(most));
    std::copy_n(few_, kFew, many_.get());
  }
  (many_ != nullptr ? many_.get() : few_)[size_++] = one;
}

void StartedAmong::find(const MPI_Request* requests, int count) {
  const uint64_t least = internal::least_handle.load(std::memory_order_relaxed);
  const uint64_t greatest = internal::greatest_handle.load(std::memory_order_relaxed);
  if (least > greatest) return;
  constexpr int kBlock = 64;
  for (int begin = 0; begin < count; begin += kBlock) {
    const int end = std::min(count, begin + kBlock);
    if (!may_have_own(requests + begin, end - begin, least, greatest)) continue;
    for (int i = begin; i < end; ++i)
      if (StartedCall* const call = find_started(requests[i]); call != nullptr && call->is_active())
        add({i, call}, count);
  }
  has_others_ = size_ != 0 && count_requests(requests, count) > static_cast<int>(size_);
}

}  // namespace hocket::interposer
