// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/slot_ring.h"

#include <algorithm>

namespace hocket::algorithms {

void SlotRing::expect_readers(uint32_t readers) {
  readers_ = readers;
  // Half h is acknowledged when there is a half h + 2, which takes its slots.
  const uint32_t acknowledged = halves() > 2 ? halves() - 2 : 0;
  for (uint32_t parity = 0; parity < 2; ++parity) {
    const uint32_t times = (acknowledged + 1 - parity) / 2;
    if (readers * times > 0) builder_.own_total(counter_of(parity), readers * times);
  }
}

void SlotRing::claim(uint32_t segment) {
  const uint32_t number = segment / half();
  if (readers_ == 0 || number < 2 || segment % half() != 0) return;
  builder_.wait_until(counter_of(number), readers_ * (number / 2));
}

void SlotRing::release(uint32_t peer, uint32_t segment) {
  const uint32_t number = segment / half();
  if (segment % half() != half() - 1 || number + 2 >= halves()) return;
  builder_.add(peer, counter_of(number));
}

ScratchRing::ScratchRing(schedule::Builder& builder, const schedule::Slice& longest, uint32_t slots)
    : areas_(std::min(slots, builder.segments())) {
  for (uint32_t i = 0; i < areas_; ++i) {
    const uint8_t area = builder.scratch_area(longest);
    if (i == 0) first_area_ = area;
  }
}

}  // namespace hocket::algorithms
