// SPDX-License-Identifier: BSD-3-Clause
// A NIC group as the carrier of one sequence of calls: a step that stands for messages to other nodes (kTrigger) begins
// an operation. A rank that gets something of it, and every rank in a barrier, waits until the engine has carried it
// out; others go on at once. Steps of several calls may be under way, started and looked at in the calls' order.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engines/executor/carrier.h"
#include "engines/nic/port.h"

namespace hocket::engines::nic {

// How what a rank gives, and what it gets, lie in the words of an operand.
enum class Layout : uint8_t {
  kAsItIs,
  kRow,       // it gives a block of a row, all of which it gets: others' blocks are zeros, and the operation is an or
  kExchange,  // a row of blocks either way, one a member; each begins with a word of its own
};

class GroupCarrier final : public Carrier {
 public:
  // names[i]: what errors call member i; this one is member `self`.
  GroupCarrier(std::unique_ptr<NicGroup> group, std::vector<std::string> names, uint32_t self)
      : group_(std::move(group)), names_(std::move(names)), self_(self) {}

  // From now on, another group's. Nothing that a call waits for is under way; what a rank has given to the one before
  // is seen to its end.
  void replace(std::unique_ptr<NicGroup> group);

  Progress run(const Instruction& step, StepState& state, const Operands& operands) override;
  WakeUp wake_up() const override { return group_->done() < awaited_ ? WakeUp::kSufficient : WakeUp::kIdle; }
  // Until an operation ends; returns at once if none is under way.
  bool sleep(int64_t limit_ns) override;
  bool has_failed() const override { return !failure_.is_ok(); }
  Status take_failure() override { return std::exchange(failure_, Status::ok()); }
  // An engine that has gone, and a doorbell that was not heard.
  Status check() override;
  // The member that has broken the group; all ones: none, or it is unknown.
  uint32_t culprit() const { return group_->culprit(); }
  // Tells the other members that this one fails. False: it can't, since the engine has gone.
  bool abandon() { return group_->abandon(); }

 private:
  Status health() const;
  bool ring(const Instruction& step, StepState& state, const Operands& operands);
  uint8_t words_of(const Instruction& step) const;
  void write(const Instruction& step, const std::byte* from, nic_operand& operand) const;
  void read(const Instruction& step, const nic_operand& result, std::byte* to) const;

  std::unique_ptr<NicGroup> group_;
  std::vector<std::unique_ptr<NicGroup>> earlier_;  // those that are not idle yet
  uint64_t awaited_ = 0;                            // the operation that was last waited for
  uint32_t unread_ = 0;  // bit i: operation i, modulo NIC_IN_FLIGHT, has a result that has not been read yet
  std::vector<std::string> names_;
  uint32_t self_;
  Status failure_;
};

}  // namespace hocket::engines::nic
