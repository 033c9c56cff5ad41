// SPDX-License-Identifier: BSD-3-Clause
// The steps of one sequence of calls that go to other nodes: messages under tags of the wire that nothing else has.
//
// A message needs no header: sender, tag and order say which step it belongs to, and the wire says how long it was. So
// data goes from the caller's memory into the receiver's as the wire carries it. Which of the tags a call has depends
// on all calls so far: what a rank sends in another call finds no receive, but for one message of as many as there are
// tags, and a rank that waits for long looks for them (has_stranger).
//
// Invariant: every posted message is complete or cancelled before the step's memory is used for anything else. The
// channel's own memory is never given back while something that was cancelled may still write there.
//
// Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/assertion.h"
#include "base/status.h"
#include "engines/executor/carrier.h"
#include "engines/wire/wire.h"

namespace hocket::engines::wire {

struct TagRange {
  uint32_t first = 0;
  uint32_t count = 1;  // a power of two
};

class Channel final : public Carrier {
 public:
  // Of `rank`; addresses[r]: rank r's number on the wire, which outlives the channel.
  // `longest_piece`: longer messages are cut, since wires count in ints. The same on all ranks.
  Channel(Wire& wire, TagRange tags, uint32_t rank, std::vector<uint32_t> addresses,
          uint64_t longest_piece = uint64_t{1} << 30)
      : wire_(wire),
        tags_(tags),
        tag_(tags.first),
        rank_(rank),
        addresses_(std::move(addresses)),
        longest_piece_(longest_piece) {
    HOCKET_ASSERT(std::has_single_bit(tags.count), "a channel has a power of two of tags");
  }
  ~Channel() override { cancel(); }

  // For what is started from now on; the same on all ranks that are in the same call. Any number.
  void mark(uint32_t mark) override { tag_ = tags_.first + (mark & (tags_.count - 1)); }

  // Moves the network, if a call waits for something here. Steps only look.
  bool poll() override;
  void begin(const Program&) override;
  Progress run(const Instruction& step, StepState& state, const Operands& operands) override;
  // Whether anything was started since this was last asked that was not done at once.
  bool has_just_started() override { return std::exchange(has_just_posted_, false); }
  WakeUp wake_up() const override { return tickets_.empty() ? WakeUp::kIdle : WakeUp::kNone; }
  // Messages for which no step waits are taken from the network in batches: one poll costs as much as many messages.
  static constexpr uint32_t kMostLeftAlone = 16;
  bool has_leftovers() const override { return left_ != 0; }
  void poll_leftovers() override { move(); }
  // Whether a call waits for something here.
  bool is_awaited() const { return tickets_.size() > left_; }
  // Moves the network, if anything is under way here.
  void move();
  // Whether `peer`, of whom a message is awaited, has sent something in another call. Moves the network, and takes a
  // look for each tag: to be called after waiting for long. Where messages come over several links, one may be seen
  // before the last of an earlier one has come: true twice, after a while, is sure.
  bool has_stranger(uint32_t peer);
  // Whose messages are awaited; each once.
  std::vector<uint32_t> senders() const;
  // Whose messages, or whose receives, are awaited; each once.
  std::vector<uint32_t> peers() const;

  // --- messages beside the steps, which must be asked for and given in an order that both sides know -----------------
  // A message of `peer` into memory of the channel's own; the result is its number until leave().
  uint32_t receive_parked(uint32_t peer, uint64_t bytes);
  bool has_come(uint32_t message) const;
  const std::byte* content(uint32_t message) const {
    HOCKET_ASSERT(has_come(message), "what is read has come");
    return bounces_[parked_[message].bounce].memory.get();
  }
  // It is not needed any more. It may still come: its memory serves others when it has.
  void leave(uint32_t message);
  // A message that is copied together from pieces; has_come() says when its memory is free again, until leave().
  uint32_t send_parked(uint32_t peer, std::span<const std::span<const std::byte>> pieces);
  // Sends a message for whose completion no step waits; it is copied.
  void send_parked_and_leave(uint32_t peer, std::span<const std::byte> message);
  // How many messages are under way for which no step waits.
  uint32_t left() const { return left_; }

  // A message that `peer` has told the length of before it sends it. A failure if it isn't the one expected here.
  void compare_lengths(uint32_t peer, uint64_t bytes, uint64_t expected);
  bool has_failed() const override { return !failure_.is_ok(); }
  Status take_failure() override { return std::exchange(failure_, Status::ok()); }
  void cancel() override;

 private:
  struct Posted {
    StepState* state;
    uint64_t expected;  // bytes
    uint32_t peer;
    bool is_receive;
  };
  template <typename Chooses>
  std::vector<uint32_t> peers_of(const Chooses& chooses) const;
  void post(const Instruction& step, StepState& state, const Operands& operands);
  void settle(const Posted& posted, size_t bytes);
  void finish(const Instruction& step, const StepState& state, const Operands& operands);
  uint64_t take_bounce(uint64_t bytes);
  void free_bounce(uint64_t index);
  struct Parked;
  uint32_t new_parked(uint64_t bytes);
  void note_posted(Parked& message, Ticket ticket, const Posted& posted);
  void watch(Ticket ticket, const Posted& posted);
  void sweep();
  bool has_steps_under_way() const;

  Wire& wire_;
  TagRange tags_;
  uint32_t tag_;  // of them
  uint32_t rank_;
  std::vector<uint32_t> addresses_;
  uint64_t longest_piece_;
  std::vector<Ticket> tickets_;  // of what is under way
  std::vector<Posted> posted_;   // the same, in the same order
  std::vector<size_t> lengths_;  // room for test()
  struct Bounce {                // operands that arrive to be combined
    std::unique_ptr<std::byte[]> memory;
    uint64_t bytes = 0;
    bool in_use = false;
  };
  std::vector<Bounce> bounces_;
  struct Parked {
    StepState state;
    uint64_t bounce = 0;
    bool in_use = false;
    bool is_left = false;
  };
  std::deque<Parked> parked_;  // which stay where they are
  uint32_t left_ = 0;          // of them, under way and left
  bool has_just_posted_ = false;
  Status failure_;
};

}  // namespace hocket::engines::wire
