// SPDX-License-Identifier: BSD-3-Clause
// The way of one sequence of calls: memory that the ranks of a node share and, where a communicator spans several
// nodes, a channel of the wire beside it. One schedule runs over both.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "communicator/multicast_steps.h"
#include "engines/nic/trigger.h"
#include "engines/shared_memory/lane.h"
#include "engines/wire/channel.h"

namespace hocket::communicator {

class Track final : private engines::Transport {
 public:
  // `channel`: nullptr where all ranks are on one node.
  Track(std::unique_ptr<engines::shared_memory::Lane> lane, std::unique_ptr<engines::wire::Channel> channel)
      : lane_(std::move(lane)), channel_(std::move(channel)) {}

  engines::shared_memory::Lane& lane() { return *lane_; }
  const engines::shared_memory::Lane& lane() const { return *lane_; }
  engines::wire::Channel* channel() { return channel_.get(); }
  engines::Transport& transport() {
    if (channel_ == nullptr) [[likely]]
      return *lane_;
    return *this;
  }
  // The call that begins now; see Lane.
  void announce(const engines::shared_memory::CallSignature& shape, uint64_t hash_of_shape, uint64_t operation) {
    lane_->announce(shape, hash_of_shape, operation);
    if (channel_ == nullptr) [[likely]]
      return;
    // Not by their lengths: these show as messages come, in the right sentence.
    kinds_.add(engines::shared_memory::hash_of_shape({.what = shape.what}), operation);
    channel_->mark(kinds_.short_mark());
  }
  // From now on steps of the NIC engine's go there.
  void use(engines::nic::Trigger* trigger) { trigger_ = trigger; }
  // And those that go by multicast there, as stream `stream`.
  void use(MulticastShared& member, uint32_t stream) { multicast_.emplace(member, *channel_, stream); }
  // Moves what is under way between nodes. To be called before a call is advanced.
  void poll() {
    if (channel_ == nullptr) [[likely]]
      return;
    if (multicast_ && multicast_->takes_what_it_awaits()) return;
    if (channel_->is_awaited() || channel_->left() >= kMostLeftAlone) channel_->poll();
    if (multicast_) multicast_->hear_reports();
  }
  // The same for messages that nobody waits for.
  void poll_leftovers() {
    if (channel_ != nullptr) channel_->poll();
    if (multicast_) multicast_->hear_reports();
  }
  // Whether messages have been begun since this was last asked.
  bool has_just_posted() { return channel_ != nullptr && channel_->has_just_posted(); }
  // Whether nobody will wake this rank when its call can go on.
  bool must_poll() const { return has_messages() || awaits_nic(); }
  // Steps by multicast, if what is waited for may come so.
  MulticastSteps* wakes_by_multicast() { return multicast_ && multicast_->is_awaited() ? &*multicast_ : nullptr; }
  // Whether messages are under way that no call waits for. They must come before the track goes.
  bool has_leftovers() const {
    return channel_ != nullptr && (channel_->left() != 0 || (multicast_ && multicast_->awaits_reports()));
  }
  // The NIC engine does, and nothing else is under way between nodes.
  engines::nic::Trigger* wakes() const { return awaits_nic() && !has_messages() ? trigger_ : nullptr; }

  bool has_failed() const {
    return lane_->has_failed() || (channel_ != nullptr && channel_->has_failed()) ||
           (trigger_ != nullptr && trigger_->has_failed()) || (multicast_ && multicast_->has_failed());
  }
  Status take_failure() {
    if (lane_->has_failed()) return lane_->take_failure();
    if (multicast_ && multicast_->has_failed()) return multicast_->take_failure();
    return trigger_ != nullptr && trigger_->has_failed() ? trigger_->take_failure() : channel_->take_failure();
  }
  // What an engine doesn't tell by itself. For every now and then.
  Status check() { return trigger_ == nullptr ? Status::ok() : trigger_->check(); }
  // A call is over before its steps are.
  void cancel() {
    if (channel_ != nullptr) channel_->cancel();
    if (multicast_) multicast_->cancel();
  }

 private:
  // Messages that no call waits for are taken from the network in numbers: one look is as dear as many messages.
  static constexpr uint32_t kMostLeftAlone = MulticastSteps::kMostLeft / 2;

  bool has_messages() const {
    return (channel_ != nullptr && channel_->is_busy()) || (multicast_ && multicast_->is_busy());
  }
  bool awaits_nic() const { return trigger_ != nullptr && trigger_->is_awaited(); }
  void begin(const engines::Program& program) override {
    lane_->begin(program);
    if (multicast_) multicast_->begin(program);
  }
  engines::Progress run(const engines::Instruction& step, engines::StepState& state,
                        const engines::Operands& operands) override {
    if (!step.by_wire) return lane_->run(step, state, operands);
    if (step.kind == schedule::StepKind::kTrigger) return trigger_->run(step, state, operands);
    if (multicast_ && multicast_->carries(step)) return multicast_->run(step, state, operands);
    return channel_->run(step, state, operands);
  }
  engines::Progress finish() override { return lane_->finish(); }

  std::unique_ptr<engines::shared_memory::Lane> lane_;
  std::unique_ptr<engines::wire::Channel> channel_;
  engines::shared_memory::CallHistory kinds_;
  engines::nic::Trigger* trigger_ = nullptr;
  std::optional<MulticastSteps> multicast_;
};

}  // namespace hocket::communicator
