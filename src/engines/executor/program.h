// SPDX-License-Identifier: BSD-3-Clause
// A plan bound to a count and an element size: the fractions have become bytes, ready to run any number of times.
//
// Thread safety: immutable once made; many calls may share it.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/plan.h"

namespace hocket::engines {

// Instruction::carrier: shared memory's own steps; else where in its track's list (carrier.h) its carrier stands,
// counted from 1. bind() leaves kLeavesNode in steps that leave the node's memory, for the caller to decide
// (carriers::Engines::assign).
inline constexpr uint8_t kSharedMemory = 0;
inline constexpr uint8_t kLeavesNode = 255;

struct Instruction {
  Instruction() {}  // NOLINT: not by default, which GCC 12 deletes for the union below
  schedule::StepKind kind = schedule::StepKind::kCopy;
  bool ends_stage = true;
  bool incoming_left = true;
  bool to_first_of = false;
  uint8_t slot = 0;
  schedule::Buffer source = schedule::Buffer::kNone;
  schedule::Buffer destination = schedule::Buffer::kNone;
  uint16_t version = 0;
  uint8_t carrier = kSharedMemory;
  uint32_t peer = 0;         // its place on this rank's node; of a step that leaves the node: its rank
  uint32_t second_peer = 0;  // of kFirstOf: the rank that multicasts
  uint32_t value = 0;
  uint64_t source_offset = 0;       // bytes in `source`
  uint64_t destination_offset = 0;  // bytes in `destination`
  union {
    uint64_t target_offset = 0;  // bytes in the peer's published slice
    schedule::Trigger trigger;   // of kTrigger
  };
  uint64_t bytes = 0;
  uint64_t elements = 0;
};
static_assert(sizeof(Instruction) == 64, "the executor walks lines of the cache");

struct Program {
  std::vector<Instruction> instructions;
  uint64_t scratch_bytes = 0;
  uint64_t multicast_bytes = 0;  // that are sent so or taken: the same on all ranks that take part
  bool multicasts_row = false;   // its plan expects multicasts (Builder::expect), as those of all ranks do
  uint32_t longest_stage = 1;
  bool uses_slots_or_counters = false;
  // A shared counter is waited for before all have added to it.
  bool waits_between = false;
  // When a rank completes the call, every rank has started it.
  bool synchronizing = false;
  uint32_t own_total[schedule::kMaxCounters] = {};
  uint32_t shared_total[schedule::kMaxCounters] = {};
  uint8_t own_counters = 0;  // totals beyond these are zero
  uint8_t shared_counters = 0;
};

Program bind(const schedule::Plan& plan, uint64_t count, uint64_t element_bytes);
// The same for blocks of different lengths, into a program that is used again and again. Messages of no bytes are left
// out, as both sides know that there is nothing, and copies of none.
void bind(const schedule::Plan& plan, const schedule::Extents& extents, uint64_t element_bytes, Program& program);

}  // namespace hocket::engines
