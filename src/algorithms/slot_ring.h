// SPDX-License-Identifier: BSD-3-Clause
// A message's segments pass through a few slots in rotation: segment s through slot s mod the ring's length.
//
// A slot may be published again only when its readers are done with what it held. Where the schedule doesn't imply
// that already, readers acknowledge: the ring has two halves, and when a reader has read the last segment of a half,
// it adds 1 to the publisher's counter of that half; the publisher waits for all readers before it begins on that half
// again. One counter a half and not one for all: readers' adds can't be told apart, and a reader that is ahead must not
// count for one that lags. Halves that are not used again are not acknowledged.
//
// Thread safety: none; like the builder it writes to.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/builder.h"

namespace hocket::algorithms {

// A reader may lag by half the ring. More would cost memory, less would stall; the double buffering of Velamati
// et al. is the same with halves of one.
inline constexpr uint32_t kRingSlots = 8;

class SlotRing {
 public:
  explicit SlotRing(schedule::Builder& builder, uint8_t first_slot = 0, uint8_t first_counter = 0,
                    uint32_t slots = kRingSlots)
      : builder_(builder), first_slot_(first_slot), first_counter_(first_counter), slots_(slots) {}

  // --- the publisher's side -----------------------------------------------------------------------------------
  // States how many ranks acknowledge. To be called once, before claim().
  void expect_readers(uint32_t readers);
  // Waits until the slot of `segment` may be written, and memory that was published in it overwritten.
  void claim(uint32_t segment);
  void publish(uint32_t segment, const schedule::Slice& source) { builder_.publish(slot_of(segment), source); }
  void expose(uint32_t segment, const schedule::Slice& destination) { builder_.expose(slot_of(segment), destination); }

  // --- the reader's side --------------------------------------------------------------------------------------
  schedule::Builder::From from(uint32_t peer, uint32_t segment) const {
    return {peer, slot_of(segment), segment / slots_ + 1, {}, {}};
  }
  // `part` of what the peer publishes, which stands for `whole`.
  schedule::Builder::From part_from(uint32_t peer, uint32_t segment, const schedule::Slice& part,
                                    const schedule::Slice& whole) const {
    return {peer, slot_of(segment), segment / slots_ + 1, part, whole};
  }
  // This rank has read `segment` of `peer` and all before it.
  void release(uint32_t peer, uint32_t segment);

 private:
  uint32_t half() const { return slots_ / 2; }
  // Halves are numbered through the message: half h holds segments h*half() and following.
  uint32_t halves() const { return (builder_.segments() + half() - 1) / half(); }
  uint8_t slot_of(uint32_t segment) const { return static_cast<uint8_t>(first_slot_ + segment % slots_); }
  uint8_t counter_of(uint32_t half_number) const { return static_cast<uint8_t>(first_counter_ + half_number % 2); }

  schedule::Builder& builder_;
  uint8_t first_slot_;
  uint8_t first_counter_;
  uint32_t slots_;
  uint32_t readers_ = 0;
};

// Scratch memory for segments on their way through a ring: one area a slot, because engines read published scratch
// memory where it lies.
class ScratchRing {
 public:
  // `longest`: the first segment, or the first piece of it; the others differ from it by rounding only.
  ScratchRing(schedule::Builder& builder, const schedule::Slice& longest, uint32_t slots = kRingSlots);
  schedule::Slice at(uint32_t segment, const schedule::Slice& part) const {
    return schedule::Builder::in_scratch(static_cast<uint8_t>(first_area_ + segment % areas_), part, part);
  }

 private:
  uint8_t first_area_ = 0;
  uint32_t areas_;
};

// The segments of a rank's input while peers read them and the output is written: the input itself or, in place, copies
// in scratch memory.
class OperandRing {
 public:
  explicit OperandRing(schedule::Builder& builder, uint32_t slots = kRingSlots) : builder_(builder) {
    if (builder.in_place()) copies_.emplace(builder, input(0), slots);
  }
  // Before the segment is published, or used, and its part of the output written.
  void keep(uint32_t segment) const {
    if (copies_) builder_.copy(input(segment), at(segment));
  }
  schedule::Slice at(uint32_t segment) const { return copies_ ? copies_->at(segment, input(segment)) : input(segment); }

 private:
  schedule::Slice input(uint32_t segment) const {
    return schedule::Builder::part(builder_.input(), segment, builder_.segments());
  }

  schedule::Builder& builder_;
  std::optional<ScratchRing> copies_;
};

}  // namespace hocket::algorithms
