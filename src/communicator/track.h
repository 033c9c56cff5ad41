// SPDX-License-Identifier: BSD-3-Clause
// The way of one sequence of calls: memory that the ranks of a node share and, where a communicator spans several
// nodes, carriers beside it. One schedule runs over all of them.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assertion.h"
#include "engines/shared_memory/memory_transport.h"
#include "engines/wire/channel.h"

namespace hocket::communicator {

class Track final : private engines::Transport {
 public:
  // Within a node.
  explicit Track(std::unique_ptr<engines::shared_memory::MemoryTransport> lane) : lane_(std::move(lane)) {}
  // Across nodes: `carriers` in the order of Instruction::carrier, the wire's channel behind them.
  Track(std::unique_ptr<engines::shared_memory::MemoryTransport> lane, std::unique_ptr<engines::wire::Channel> channel,
        std::vector<engines::Carrier*> carriers)
      : lane_(std::move(lane)), channel_(std::move(channel)), carriers_(std::move(carriers)) {
    carriers_.push_back(channel_.get());
  }

  engines::shared_memory::MemoryTransport& lane() { return *lane_; }
  const engines::shared_memory::MemoryTransport& lane() const { return *lane_; }
  // nullptr within a node.
  engines::wire::Channel* channel() { return channel_.get(); }
  engines::Transport& transport() {
    if (channel_ == nullptr) [[likely]]
      return *lane_;
    return *this;
  }
  // The call that begins now; see MemoryTransport.
  void announce(const engines::shared_memory::CallSignature& shape, uint64_t hash_of_shape, uint64_t operation) {
    lane_->announce(shape, hash_of_shape, operation);
    if (channel_ == nullptr) [[likely]]
      return;
    // Not by their lengths: these show as messages come, in the right sentence.
    kinds_.add(engines::shared_memory::hash_of_shape({.what = shape.what}), operation);
    for (engines::Carrier* carrier : carriers_) carrier->mark(kinds_.short_mark());
  }
  // Moves what is under way between nodes. To be called before a call is advanced.
  void poll() {
    if (channel_ == nullptr) [[likely]]
      return;
    for (engines::Carrier* carrier : carriers_)
      if (carrier->poll()) return;
    for (engines::Carrier* carrier : carriers_) carrier->after_poll();
  }
  // The same for what no call waits for, which must come before the track goes.
  void poll_leftovers() {
    for (engines::Carrier* carrier : carriers_) carrier->poll_leftovers();
    for (engines::Carrier* carrier : carriers_) carrier->after_poll();
  }
  bool has_leftovers() const {
    return any_carrier([](const engines::Carrier& carrier) { return carrier.has_leftovers(); });
  }
  // Whether steps have started since this was last asked that a poll may complete.
  bool has_just_started() {
    bool has = false;
    for (engines::Carrier* carrier : carriers_) has = carrier->has_just_started() || has;
    return has;
  }
  // Whether something is pending whose arrival no wake-up in shared memory reports.
  bool must_poll() const {
    return any_carrier([](const engines::Carrier& carrier) { return carrier.wake_up() != engines::WakeUp::kIdle; });
  }
  // The carrier in whose sleep() to wait, and in `wakes_alone` whether no other has anything under way; nullptr: none.
  engines::Carrier* sleeps_at(bool& wakes_alone) const;

  bool has_failed() const {
    return lane_->has_failed() || any_carrier([](const engines::Carrier& carrier) { return carrier.has_failed(); });
  }
  Status take_failure();
  // Checks for failures that no carrier reports by itself. To be called occasionally.
  Status check();
  // The call ends although some of its steps are incomplete.
  void cancel() {
    for (auto carrier = carriers_.rbegin(); carrier != carriers_.rend(); ++carrier) (*carrier)->cancel();
  }

 private:
  template <typename Test>
  bool any_carrier(const Test& test) const {
    return std::any_of(carriers_.begin(), carriers_.end(), [&](const auto* carrier) { return test(*carrier); });
  }
  void begin(const engines::Program& program) override {
    lane_->begin(program);
    for (engines::Carrier* carrier : carriers_) carrier->begin(program);
  }
  engines::Progress run(const engines::Instruction& step, engines::StepState& state,
                        const engines::Operands& operands) override {
    if (step.carrier == engines::kSharedMemory) return lane_->run(step, state, operands);
    HOCKET_ASSERT(step.carrier <= carriers_.size(), "a step that leaves the node names a carrier of its track");
    return carriers_[step.carrier - 1]->run(step, state, operands);
  }
  engines::Progress finish() override { return lane_->finish(); }

  std::unique_ptr<engines::shared_memory::MemoryTransport> lane_;
  std::unique_ptr<engines::wire::Channel> channel_;
  std::vector<engines::Carrier*> carriers_;  // those of engines are the engines'
  engines::shared_memory::CallHistory kinds_;
};

}  // namespace hocket::communicator
