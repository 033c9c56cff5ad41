// SPDX-License-Identifier: BSD-3-Clause
// The one-sided half of a lane: publications and their readers.
#include <cstring>

#include "base/assertion.h"
#include "engines/shared_memory/memory_transport.h"
#include "engines/shared_memory/short_copy.h"

namespace hocket::engines::shared_memory {

using schedule::Buffer;

namespace {

// Publishing the caller's own memory in place saves a copy, but then the call can't end before all peers have read
// it. Below this size the copy is cheaper.
constexpr uint64_t kPublishInPlaceBytes = 16 * 1024;
// What peers write in place needs no copy and nobody's wait; but for windows' memory there is more to ask.
constexpr uint64_t kExposeInPlaceBytes = 4096;
// A copy of this size takes longer than to tell that it is being made.
constexpr uint64_t kLongCopyBytes = 4096;

}  // namespace

bool MemoryTransport::publishes_in_place(const Instruction& step, const std::byte* memory) const {
  if (!group_.region().contains(memory, step.bytes)) return false;
  return step.source == Buffer::kScratch || step.bytes >= kPublishInPlaceBytes;
}

// The buffer that stands behind a slot during this call. A slot published again keeps its buffer: the schedule has
// made sure that the readers of the earlier version are done.
StagingBuffer* MemoryTransport::slot_buffer(uint8_t slot) {
  if (held_[slot] != nullptr) return held_[slot];
  StagingBuffer* buffer = slot_staging_.take(
      [this](const StagingBuffer& candidate) { return candidate.holder != call_ && all_finished(candidate.holder); });
  if (buffer != nullptr) {
    buffer->holder = call_;
    held_[slot] = buffer;
    holds_ = true;
  } else if (slot_staging_.is_short_of_memory()) {
    fail_without_memory();
  }
  return buffer;
}

void MemoryTransport::write_slot(const Instruction& step, uint64_t location) {
  HOCKET_ASSERT(entered_, "a set is written to when all ranks have finished the call that had it before");
  SlotLine& line = mine_->slots[set()][step.slot];
  line.location = location ^ mark_;
  // Release: the data and its location come before; pairs with the acquire in published().
  line.tag.store(slot_tag(call_, step.version), std::memory_order_release);
  group_.wake_all(1 + group_.rank());
}

Progress MemoryTransport::publish(const Instruction& step, const Operands& operands) {
  HOCKET_ASSERT(step.slot < schedule::kMaxSlots, "a step names one of the slots that there are");
  if (!enter_set()) return Progress::kPending;
  const std::byte* data = operands.source(step);
  if (step.bytes <= kInlineBytes) {
    copy_short(mine_->slots[set()][step.slot].payload, data, step.bytes);
    write_slot(step, kInline);
    return Progress::kDone;
  }
  if (step.bytes <= kNearBytes && step.slot < kNearSlots) {
    std::byte* near = mine_->near[set()][step.slot];
    std::memcpy(near, data, step.bytes);
    write_slot(step, group_.region().offset_of(near));
    return Progress::kDone;
  }
  if (publishes_in_place(step, data)) {
    if (step.source == Buffer::kScratch) {
      current_scratch_->call = call_;
    } else {
      lingers_ = true;
    }
    write_slot(step, group_.region().offset_of(data));
    return Progress::kDone;
  }
  if (step.bytes >= kPublishInPlaceBytes) {
    group_.common_memory().answer();
    if (const uint64_t common = group_.common_memory().location_of(data, step.bytes); common != kInline) {
      lingers_ = true;
      write_slot(step, common);
      return Progress::kDone;
    }
  }
  if (group_.cross_memory() && step.bytes >= kForeignBytes) {
    lingers_ = true;
    write_slot(step, kForeign | reinterpret_cast<uintptr_t>(data));
    return Progress::kDone;
  }
  StagingBuffer* buffer = slot_buffer(step.slot);
  if (buffer == nullptr) return Progress::kPending;
  // Relaxed: only a hint that it isn't worth while to yield the core.
  if (step.bytes >= kLongCopyBytes && step.version == 1) {
    mine_->slots[set()][step.slot].tag.store(slot_tag(call_, kBeingWritten), std::memory_order_relaxed);
  }
  std::memcpy(buffer->memory, data, step.bytes);
  write_slot(step, buffer->offset);
  return Progress::kDone;
}

Progress MemoryTransport::expose(const Instruction& step, const Operands& operands) {
  HOCKET_ASSERT(step.slot < schedule::kMaxSlots, "a step names one of the slots that there are");
  if (!enter_set()) return Progress::kPending;
  std::byte* room = operands.destination(step);
  if (step.bytes != 0 && group_.region().contains(room, step.bytes)) {
    write_slot(step, group_.region().offset_of(room));
    return Progress::kDone;
  }
  if (step.bytes >= kExposeInPlaceBytes) {
    if (const uint64_t common = group_.common_memory().location_of(room, step.bytes); common != kInline) {
      write_slot(step, common);
      return Progress::kDone;
    }
  }
  StagingBuffer* buffer = slot_buffer(step.slot);
  if (buffer == nullptr) return Progress::kPending;
  write_slot(step, buffer->offset);
  return Progress::kDone;
}

const SlotLine* MemoryTransport::published(const Instruction& step) {
  HOCKET_ASSERT(step.peer < lanes_.size(), "a step's peer is in this group");
  HOCKET_ASSERT(step.slot < schedule::kMaxSlots, "a step names one of the slots that there are");
  const SlotLine& line = lanes_[step.peer]->slots[set()][step.slot];
  // Acquire: pairs with write_slot(). A later call's tag can't be there: its publisher waits for our finish().
  const uint64_t tag = line.tag.load(std::memory_order_acquire);
  HOCKET_ASSERT(tag < slot_tag(call_ + 1, 0), "no peer publishes in a set that this rank still uses");
  peer_is_writing_ = tag == slot_tag(call_, kBeingWritten);
  if (tag < slot_tag(call_, step.version)) return nullptr;
  has_started(step.peer);
  return &line;
}

Progress MemoryTransport::get(const Instruction& step, const Operands& operands) {
  const SlotLine* line = published(step);
  if (line == nullptr) return Progress::kPending;
  const uint64_t location = line->location ^ mark_;
  if (is_of_other_call(step, location)) return Progress::kPending;
  if (step.bytes == 0) return Progress::kDone;
  if (location == kInline) {
    copy_short(operands.destination(step), line->payload + step.target_offset, step.bytes);
    return Progress::kDone;
  }
  return take_in(step, operands, location, step.target_offset, 0, step.bytes);
}

Progress MemoryTransport::combine_from(const Instruction& step, const Operands& operands) {
  const SlotLine* line = published(step);
  if (line == nullptr) return Progress::kPending;
  const uint64_t location = line->location ^ mark_;
  if (is_of_other_call(step, location)) return Progress::kPending;
  if (step.elements == 0) return Progress::kDone;
  if (location == kInline) {
    operands.combine(step, line->payload + step.target_offset, 0, step.elements);
    return Progress::kDone;
  }
  return take_in(step, operands, location, step.target_offset, 0, step.bytes);
}

Progress MemoryTransport::put(const Instruction& step, const Operands& operands) {
  const SlotLine* line = published(step);
  if (line == nullptr) return Progress::kPending;
  const uint64_t location = line->location ^ mark_;
  if (is_of_other_call(step, location)) return Progress::kPending;
  // What is exposed always lies where it is mapped here.
  if (step.bytes == 0) return Progress::kDone;
  std::byte* room = at(step.peer, location + step.target_offset, step.bytes);
  if (room == nullptr) return Progress::kPending;
  group_.common_memory().answer();
  const std::byte* data = operands.source(step);
  if (room != data) std::memcpy(room, data, step.bytes);  // ranks may pass the same memory of a window
  return Progress::kDone;
}

}  // namespace hocket::engines::shared_memory
