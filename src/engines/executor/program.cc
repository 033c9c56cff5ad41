// SPDX-License-Identifier: BSD-3-Clause
#include "engines/executor/program.h"

#include <algorithm>
#include <array>

#include "schedule/rows.h"

namespace hocket::engines {
namespace {

using schedule::Buffer;
using schedule::Slice;
using schedule::Step;
using schedule::StepKind;

constexpr uint64_t kScratchAlignment = 64;

struct Binding {
  const schedule::Extents& extents;
  uint64_t element_bytes = 0;
  const uint64_t* area_offsets = nullptr;  // one per scratch area

  uint64_t offset(const Slice& slice) const {
    if (slice.buffer == Buffer::kNone) return 0;
    const uint64_t within = schedule::resolve(slice, extents).offset * element_bytes;
    return slice.buffer == Buffer::kScratch ? area_offsets[slice.area] + within : within;
  }
  uint64_t elements(const Step& step) const {
    const Slice& named =
        step.source.buffer != Buffer::kNone && step.kind != StepKind::kGet ? step.source : step.destination;
    return named.buffer == Buffer::kNone ? 0 : schedule::resolve(named, extents).length;
  }
};

// Peers on this rank's node go by their places there: its memory knows no others.
void place_peer(const schedule::Nodes& nodes, uint32_t rank, Instruction& step) {
  const bool has_peer =
      schedule::is_two_sided(step.kind) || schedule::is_one_sided(step.kind) || schedule::is_counter(step.kind);
  if (!has_peer || step.peer == schedule::kShared) return;
  if (nodes.together(rank, step.peer))
    step.peer = nodes.place_of(step.peer);
  else
    step.carrier = kLeavesNode;
}

Instruction translate(const Step& step, const Binding& binding) {
  Instruction out;
  out.kind = step.kind;
  out.ends_stage = step.ends_stage;
  out.incoming_left = step.incoming_left;
  out.to_first_of = step.to_first_of;
  out.slot = step.slot;
  out.peer = step.peer;
  out.version = static_cast<uint16_t>(step.version);
  out.value = step.value;
  out.source = step.source.buffer;
  out.destination = step.destination.buffer;
  out.source_offset = binding.offset(step.source);
  out.destination_offset = binding.offset(step.destination);
  if (step.kind == StepKind::kTrigger) {
    out.trigger = step.trigger;
  } else if (step.target.buffer != Buffer::kNone) {
    out.target_offset = schedule::resolve(step.target, binding.extents).offset * binding.element_bytes;
  }
  out.second_peer = step.second_peer;
  if (step.kind == StepKind::kTrigger || schedule::is_by_multicast(step.kind)) out.carrier = kLeavesNode;
  out.elements = binding.elements(step);
  out.bytes = out.elements * binding.element_bytes;
  return out;
}

uint8_t used(const uint32_t (&totals)[schedule::kMaxCounters]) {
  uint8_t count = 0;
  for (uint8_t i = 0; i < schedule::kMaxCounters; ++i) {
    if (totals[i] != 0) count = static_cast<uint8_t>(i + 1);
  }
  return count;
}

// Every rank's result holds every rank's data, so completion implies that all have started.
bool is_synchronizing(schedule::Collective collective, const schedule::Extents& extents) {
  using schedule::Collective;
  if (collective == Collective::kBarrier) return true;
  return !extents.varies && extents.count > 0 &&
         (collective == Collective::kAllreduce || collective == Collective::kAllgather ||
          collective == Collective::kAlltoall || collective == Collective::kReduceScatterBlock);
}

// A message or a multicast, as all sides know, or a copy.
bool is_nothing(const Instruction& step) {
  return step.bytes == 0 &&
         (schedule::is_two_sided(step.kind) || schedule::is_by_multicast(step.kind) || step.kind == StepKind::kCopy);
}

// Adds the steps of a plan, less those of which nothing is left; their stages end with what is.
void add_instructions(const schedule::Plan& plan, const Binding& binding, Program& program) {
  uint32_t stage = 0;
  for (const Step& step : plan.steps) {
    Instruction instruction = translate(step, binding);
    if (plan.shape.nodes != nullptr) place_peer(*plan.shape.nodes, plan.shape.rank, instruction);
    program.multicasts_row |= step.kind == StepKind::kExpect;
    if (binding.extents.varies && is_nothing(instruction)) {
      if (step.ends_stage && stage != 0) program.instructions.back().ends_stage = true;
    } else {
      program.instructions.push_back(instruction);
      if (instruction.kind == StepKind::kMulticast || instruction.kind == StepKind::kFirstOf)
        program.multicast_bytes += instruction.bytes;
      program.longest_stage = std::max(program.longest_stage, ++stage);
    }
    if (step.ends_stage) stage = 0;
    if (step.kind == StepKind::kWaitUntil && step.peer == schedule::kShared) {
      program.waits_between |= step.value != plan.shared_total[step.slot];
    }
  }
  if (!program.instructions.empty()) program.instructions.back().ends_stage = true;
}

}  // namespace

void bind(const schedule::Plan& plan, const schedule::Extents& extents, uint64_t element_bytes, Program& program) {
  // Not cleared, which would take a good part of a short bind: only the plan's areas are read.
  std::array<uint64_t, schedule::kMaxScratchAreas> area_offsets;  // NOLINT
  const Binding binding{extents, element_bytes, area_offsets.data()};
  program.scratch_bytes = 0;
  program.multicast_bytes = 0;
  program.multicasts_row = false;
  program.longest_stage = 1;
  program.waits_between = false;
  for (size_t i = 0; i < plan.scratch.size(); ++i) {
    area_offsets[i] = program.scratch_bytes;
    const uint64_t bytes = schedule::scratch_elements(plan, static_cast<uint8_t>(i), extents) * element_bytes;
    program.scratch_bytes += (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
  }
  program.instructions.clear();
  program.instructions.reserve(plan.steps.size());
  add_instructions(plan, binding, program);
  program.uses_slots_or_counters = plan.uses_slots_or_counters;
  program.synchronizing = is_synchronizing(plan.collective, extents);
  std::copy(std::begin(plan.own_total), std::end(plan.own_total), program.own_total);
  std::copy(std::begin(plan.shared_total), std::end(plan.shared_total), program.shared_total);
  program.own_counters = used(program.own_total);
  program.shared_counters = used(program.shared_total);
}

Program bind(const schedule::Plan& plan, uint64_t count, uint64_t element_bytes) {
  Program program;
  schedule::Extents extents;
  extents.count = count;
  bind(plan, extents, element_bytes, program);
  return program;
}

}  // namespace hocket::engines
