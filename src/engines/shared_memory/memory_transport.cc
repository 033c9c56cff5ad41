// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/memory_transport.h"

#include <algorithm>
#include <cstring>

#include "base/assertion.h"
#include "schedule/describe.h"

namespace hocket::engines::shared_memory {

using schedule::StepKind;

namespace {

constexpr uint32_t kSlotBuffers = 16;
constexpr uint32_t kSlotBuffersAtStart = 8;
constexpr uint32_t kShortMailBuffersAtStart = 8;

constexpr uint64_t kFirstStagingBytes = kSlotBuffersAtStart * kSlotStagingBytes + kMailBuffers * kMailStagingBytes +
                                        kShortMailBuffersAtStart * kShortMailBytes;

}  // namespace

MemoryTransport::MemoryTransport(NodeGroup& group, uint32_t index)
    : group_(group),
      pairs_(group.size()),
      slot_staging_(group.region(), kSlotStagingBytes, kSlotBuffersAtStart, kSlotBuffers),
      mail_staging_(group.region(), kMailStagingBytes, kMailBuffers, kMailBuffers),
      short_mail_staging_(group.region(), kShortMailBytes, kShortMailBuffersAtStart, kShortMailBuffers) {
  HOCKET_ASSERT(index < kLanes, "a group has kLanes lanes");
  for (uint32_t rank = 0; rank < group.size(); ++rank) {
    lanes_.push_back(group.member(rank).block->lane(index, group.size()));
  }
  mine_ = lanes_[group.rank()];
  root_ = lanes_[0];
}

Result<std::unique_ptr<MemoryTransport>> MemoryTransport::create(NodeGroup& group, uint32_t index) {
  HOCKET_TRY(promise_staging(group.region()));
  return create_promised(group, index);
}

std::unique_ptr<MemoryTransport> MemoryTransport::create_promised(NodeGroup& group, uint32_t index) {
  return std::unique_ptr<MemoryTransport>(new MemoryTransport(group, index));
}

Status MemoryTransport::promise_staging(platform::SharedRegion& region) {
  if (region.promise(kFirstStagingBytes)) return Status::ok();
  return {Code::kNoMemory, "no shared memory for a communicator's buffers; raise HOCKET_MEMORY"};
}

void MemoryTransport::redeem_staging(platform::SharedRegion& region) { region.redeem(kFirstStagingBytes); }

void MemoryTransport::fail_without_memory() {
  failure_ = Status(Code::kNoMemory, "no shared memory for the buffers of a call; raise HOCKET_MEMORY");
}

void MemoryTransport::begin(const Program& program) {
  program_ = &program;
  own_bases_.have(program.own_counters);
  shared_bases_.have(program.shared_counters);
  ++call_;
  entered_ = false;
  finished_reported_ = false;
  lingers_ = false;
  if (holds_) {
    std::fill(std::begin(held_), std::end(held_), nullptr);
    holds_ = false;
  }
}

void MemoryTransport::abandon() {
  slot_staging_.abandon();
  mail_staging_.abandon();
  short_mail_staging_.abandon();
  for (Scratch& scratch : scratch_) scratch = {};
}

MemoryTransport::~MemoryTransport() {
  for (Scratch& scratch : scratch_) {
    if (scratch.memory != nullptr) group_.region().free(scratch.memory);
  }
}

// --- what peers have finished ------------------------------------------------------------------------------------

bool MemoryTransport::find_finished(uint64_t call) {
  uint64_t least = call_;
  for (uint32_t rank = 0; rank < lanes_.size(); ++rank) {
    if (rank == group_.rank()) continue;
    uint64_t& finished = pairs_[rank].finished;
    // Acquire: pairs with the release in finish(): what that rank read of ours, it has read.
    if (finished < call) {
      const uint64_t reported = lanes_[rank]->finished.load(std::memory_order_acquire);
      HOCKET_ASSERT(reported >= finished, "a peer has finished what is known of it as finished");
      finished = reported;
    }
    least = std::min(least, finished);
  }
  known_finished_ = std::max(known_finished_, least);
  return known_finished_ >= call;
}

// Nothing else is known here; the communicator knows more.
void MemoryTransport::fail_by_other_call(uint32_t peer) {
  failure_ = Status(Code::kMismatch, in_another_call(group_.name_of(peer), group_.name_of(group_.rank())));
}

Progress MemoryTransport::refuse(const Instruction& step) {
  failure_ = Status(Code::kNotSupported,
                    "shared memory can't carry out a step `" + std::string(schedule::name(step.kind)) + "`");
  return Progress::kPending;
}

std::byte* MemoryTransport::reach(uint32_t peer, uint64_t offset, uint64_t bytes) {
  if ((offset & kCommon) != 0) {
    std::byte* const memory = group_.common_memory().at(peer, offset & ~kCommon, bytes);
    if (memory == nullptr) {
      failure_ = Status(Code::kSystem, "rank " + std::to_string(group_.name_of(group_.rank())) +
                                           " doesn't find the memory of a window that rank " +
                                           std::to_string(group_.name_of(peer)) +
                                           " has passed; was the window freed during the call?");
    }
    return memory;
  }
  Status reached = group_.reach(peer, offset + bytes);
  if (reached.is_ok()) return group_.member(peer).window.base + offset;
  failure_ = std::move(reached);
  return nullptr;
}

bool MemoryTransport::enter_set() {
  if (!entered_) entered_ = call_ <= kSets || all_finished(call_ - kSets);
  return entered_;
}

Progress MemoryTransport::finish() {
  HOCKET_ASSERT(program_ != nullptr, "a call that finishes has started");
  if (!finished_reported_) {
    if (program_->uses_slots_or_counters) {
      const uint32_t set = this->set();
      for (uint8_t i = 0; i < program_->own_counters; ++i) own_bases_.of(set, i) += program_->own_total[i] * unit_;
      for (uint8_t i = 0; i < program_->shared_counters; ++i)
        shared_bases_.of(set, i) += program_->shared_total[i] * unit_;
    }
    // Release: our reads of peers' memory come before; pairs with find_finished().
    mine_->finished.store(call_, std::memory_order_release);
    group_.wake_all(RankBlock::kAnything);
    finished_reported_ = true;
    if (program_->synchronizing) known_finished_ = std::max(known_finished_, call_ - 1);
  }
  return !lingers_ || all_finished(call_) ? Progress::kDone : Progress::kPending;
}

// --- scratch -----------------------------------------------------------------------------------------------------

Result<std::byte*> MemoryTransport::take_scratch(uint64_t bytes) {
  for (Scratch& scratch : scratch_) {
    if (scratch.call != 0 && !all_finished(scratch.call)) continue;
    if (scratch.bytes < bytes) {
      if (scratch.memory != nullptr) group_.region().free(scratch.memory);
      scratch = {};
      scratch.memory = static_cast<std::byte*>(group_.region().allocate(bytes, 64));
      if (scratch.memory == nullptr) {
        return Status(Code::kNoMemory, "no shared memory for the " + std::to_string(bytes) +
                                           " bytes of scratch that a collective needs; raise HOCKET_MEMORY");
      }
      scratch.bytes = bytes;
    }
    current_scratch_ = &scratch;
    return scratch.memory;
  }
  return static_cast<std::byte*>(nullptr);
}

// --- steps -------------------------------------------------------------------------------------------------------

Progress MemoryTransport::run(const Instruction& step, StepState& state, const Operands& operands) {
  switch (step.kind) {
    case StepKind::kSend:
      return send(step, state, operands);
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      return receive(step, state, operands);
    case StepKind::kPublish:
      return publish(step, operands);
    case StepKind::kExpose:
      return expose(step, operands);
    case StepKind::kGet:
      return get(step, operands);
    case StepKind::kCombineFrom:
      return combine_from(step, operands);
    case StepKind::kPut:
      return put(step, operands);
    case StepKind::kAdd:
      return add(step);
    case StepKind::kWaitUntil:
      return wait_until(step);
    default:
      // Local steps are the executor's; those by multicast and NIC engines have carriers of their own.
      return refuse(step);
  }
}

uint32_t MemoryTransport::awaits(const Instruction& step) const {
  switch (step.kind) {
    case StepKind::kGet:
    case StepKind::kCombineFrom:
    case StepKind::kPut:
      return 1 + step.peer;
    case StepKind::kWaitUntil:
      return step.peer == schedule::kShared ? RankBlock::kSharedCounter : RankBlock::kMessage;
    case StepKind::kSend:
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      return RankBlock::kMessage;
    default:
      return RankBlock::kAnything;  // a set or a staging buffer that isn't free yet
  }
}

Progress MemoryTransport::add(const Instruction& step) {
  HOCKET_ASSERT(step.slot < schedule::kMaxCounters, "a step names one of the counters that there are");
  if (!enter_set()) return Progress::kPending;
  const uint64_t added = step.value * unit_;
  // Release: what this rank did before; acquire: so that a chain of adders carries it on. Pairs with wait_until().
  if (step.peer == schedule::kShared) {
    const uint64_t before = root_->shared[set()].counter[step.slot].fetch_add(added, std::memory_order_acq_rel);
    // Usually all wait for the last to come, and only that one need look for sleepers.
    const auto now = static_cast<uint32_t>(before + added - shared_bases_.of(set(), step.slot));
    if (now == program_->shared_total[step.slot] || program_->waits_between) {
      group_.wake_all(RankBlock::kSharedCounter);
    }
  } else {
    HOCKET_ASSERT(step.peer < lanes_.size(), "a step's peer is in this group");
    lanes_[step.peer]->own[set()].counter[step.slot].fetch_add(added, std::memory_order_acq_rel);
    group_.wake(step.peer);
  }
  return Progress::kDone;
}

Progress MemoryTransport::wait_until(const Instruction& step) {
  HOCKET_ASSERT(step.slot < schedule::kMaxCounters, "a step names one of the counters that there are");
  const uint32_t set = this->set();
  const bool is_shared = step.peer == schedule::kShared;
  const CounterSet& counters = is_shared ? root_->shared[set] : mine_->own[set];
  const uint64_t base = (is_shared ? shared_bases_ : own_bases_).of(set, step.slot);
  // Acquire: pairs with the adders' release.
  const uint64_t sum = counters.counter[step.slot].load(std::memory_order_acquire) - base;
  const auto now = static_cast<uint32_t>(sum);
  if (now < step.value) return Progress::kPending;
  // If a rank adds again before this one has looked, the counter that it adds to next shows it.
  if (now == step.value && sum != step.value * unit_) [[unlikely]] {
    failure_ = Status(Code::kMismatch, "the ranks beside rank " + std::to_string(group_.name_of(group_.rank())) +
                                           " are in other calls, or were before; " + kSameCalls);
    return Progress::kPending;
  }
  return Progress::kDone;
}

}  // namespace hocket::engines::shared_memory
