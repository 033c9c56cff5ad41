// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/group_carrier.h"

#include <algorithm>
#include <cstring>

#include "engines/nic/call_size.h"
#include "engines/nic/operation_name.h"

namespace hocket::engines::nic {

using schedule::Buffer;

namespace {

constexpr uint8_t kRung = 1;
constexpr uint64_t kWord = sizeof(uint64_t);

Layout layout_of(const Instruction& step) { return static_cast<Layout>(step.trigger.layout); }
uint32_t place_of(uint64_t operation) { return uint32_t{1} << operation % NIC_IN_FLIGHT; }

}  // namespace

uint8_t GroupCarrier::words_of(const Instruction& step) const {
  const uint64_t members = names_.size();
  switch (layout_of(step)) {
    case Layout::kRow:
      return static_cast<uint8_t>(words_for(step.bytes * members));
    case Layout::kExchange:
      return static_cast<uint8_t>(words_for(step.bytes / members) * members);
    default:
      return static_cast<uint8_t>(words_for(step.bytes));
  }
}

// `operand`: zeros.
void GroupCarrier::write(const Instruction& step, const std::byte* from, nic_operand& operand) const {
  auto* to = reinterpret_cast<std::byte*>(operand.word);
  if (layout_of(step) != Layout::kExchange) {
    const uint64_t at = layout_of(step) == Layout::kRow ? self_ * step.bytes : 0;
    std::memcpy(to + at, from, step.bytes);
    return;
  }
  const uint64_t block = step.bytes / names_.size();
  for (size_t member = 0; member < names_.size(); ++member)
    std::memcpy(to + member * words_for(block) * kWord, from + member * block, block);
}

void GroupCarrier::read(const Instruction& step, const nic_operand& result, std::byte* to) const {
  const auto* from = reinterpret_cast<const std::byte*>(result.word);
  if (layout_of(step) != Layout::kExchange) {
    std::memcpy(to, from, layout_of(step) == Layout::kRow ? step.bytes * names_.size() : step.bytes);
    return;
  }
  const uint64_t block = step.bytes / names_.size();
  for (size_t member = 0; member < names_.size(); ++member)
    std::memcpy(to + member * block, from + member * words_for(block) * kWord, block);
}

// False: the group is broken, or as many are under way as may be.
bool GroupCarrier::ring(const Instruction& step, StepState& state, const Operands& operands) {
  // A rank that only gives would not notice for long.
  if (group_->is_broken()) [[unlikely]]
    return false;
  if (group_->started() - group_->done() >= NIC_IN_FLIGHT) {
    awaited_ = group_->done() + 1;
    return false;
  }
  // The engine would write into the place of a result that is still to be read.
  if ((unread_ & place_of(group_->started() + 1)) != 0) return false;
  nic_operand operand{};
  NicCall call = {.program = step.trigger.program, .root = step.trigger.root};
  if (step.trigger.operation != 0) {
    call.operation = operation_of(step.trigger.operation);
    call.type = type_of(step.trigger.operation);
    call.words = words_of(step);
    if (step.source != Buffer::kNone) {
      write(step, operands.source(step), operand);
      call.operand = &operand;
    }
  }
  failure_ = group_->start(call);
  state.phase = kRung;
  state.serial = group_->started();
  if (step.destination != Buffer::kNone) unread_ |= place_of(state.serial);
  return true;
}

Progress GroupCarrier::run(const Instruction& step, StepState& state, const Operands& operands) {
  if (state.phase != kRung && !ring(step, state, operands)) {
    if (group_->is_broken()) [[unlikely]]
      failure_ = health();
    return Progress::kPending;
  }
  const bool gets_nothing = step.trigger.operation != 0 && step.destination == Buffer::kNone;
  if (gets_nothing && failure_.is_ok()) return Progress::kDone;
  if (group_->done() < state.serial) {
    awaited_ = state.serial;
    if (group_->is_broken()) [[unlikely]]
      failure_ = health();
    return Progress::kPending;
  }
  if (step.destination != Buffer::kNone) {
    read(step, group_->result(state.serial), operands.destination(step));
    unread_ &= ~place_of(state.serial);
  }
  return Progress::kDone;
}

Status GroupCarrier::health() const {
  Status status = group_->health();
  const uint32_t member = group_->culprit();
  if (status.is_ok() || member >= names_.size()) return status;
  return {status.code(), names_[member] + ": " + status.message()};
}

void GroupCarrier::replace(std::unique_ptr<NicGroup> group) {
  if (!group_->is_idle()) earlier_.push_back(std::move(group_));
  group_ = std::move(group);
  awaited_ = 0;
  unread_ = 0;
}

Status GroupCarrier::check() {
  HOCKET_TRY(health());
  for (const std::unique_ptr<NicGroup>& group : earlier_)
    if (!group->is_idle()) HOCKET_TRY(group->ring_again());
  earlier_.erase(std::remove_if(earlier_.begin(), earlier_.end(), [](const auto& group) { return group->is_idle(); }),
                 earlier_.end());
  return group_->is_idle() ? Status::ok() : group_->ring_again();
}

bool GroupCarrier::sleep(int64_t limit_ns) {
  const uint64_t seen = group_->done();
  return seen == group_->started() || group_->is_broken() || group_->sleep(seen, limit_ns);
}

}  // namespace hocket::engines::nic
