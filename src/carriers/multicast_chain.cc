// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/multicast_chain.h"

#include <cstring>
#include <span>
#include <vector>

#include "engines/multicast/blocks.h"

namespace hocket::carriers {

using engines::Instruction;
using engines::Operands;
using engines::Progress;
using engines::StepState;
using engines::multicast::Blocks;

namespace {

enum PassingOn : uint8_t { kNotOffered, kOffered, kGiving };
enum Taking : uint8_t { kNotAwaited, kAwaited, kAsked };

using Ask = uint64_t;  // blocks

// The message's length. Of a length itself that few messages have, so that ranks whose counts don't match find out.
struct [[gnu::packed]] LengthOffer {
  uint64_t bytes;
  uint8_t filler = 0;
};

// What is copied at a time.
constexpr uint64_t kMostGivenBytes = 4 << 20;

uint64_t pair(uint32_t message, uint32_t expected) { return uint64_t{message} << 32 | expected; }

}  // namespace

// state.serial: the number of the pending message in the channel.
Progress MulticastChain::pass_on(const Instruction& step, StepState& state, const Operands& operands) {
  if (state.phase == kNotOffered) {
    if (is_passing_on_) return Progress::kPending;
    is_passing_on_ = true;
    operands.need(step, 0, step.bytes);
    const LengthOffer offer{.bytes = step.bytes};
    channel_.send_parked_and_leave(step.peer, std::as_bytes(std::span(&offer, 1)));
    state.serial = channel_.receive_parked(step.peer, sizeof(Ask));
    state.phase = kOffered;
  }
  const auto message = static_cast<uint32_t>(state.serial);
  if (!channel_.has_come(message)) return Progress::kPending;
  if (state.phase == kGiving) {
    channel_.leave(message);
    state.serial = channel_.receive_parked(step.peer, sizeof(Ask));
    state.phase = kOffered;
    return Progress::kPending;
  }
  Ask asked = 0;
  std::memcpy(&asked, channel_.content(message), sizeof asked);
  channel_.leave(message);
  if (asked == 0) {
    is_passing_on_ = false;
    return Progress::kDone;
  }
  const Blocks blocks(step.bytes, member_.fragment_bytes());
  std::vector<std::span<const std::byte>> pieces;
  blocks.each(asked, [&](uint32_t block) {
    pieces.emplace_back(operands.source(step) + blocks.begin(block), blocks.length(block));
  });
  state.serial = channel_.send_parked(step.peer, pieces);
  state.phase = kGiving;
  return Progress::kPending;
}

// state.serial: the number of the pending message in the channel, and what the member expects; state.bytes: blocks that
// were asked for.
void MulticastChain::await(const Instruction& step, StepState& state, uint32_t expected) {
  state.serial = pair(channel_.receive_parked(step.peer, sizeof(LengthOffer)), expected);
  state.phase = kAwaited;
}

Progress MulticastChain::take(const Instruction& step, StepState& state) {
  const auto message = static_cast<uint32_t>(state.serial >> 32);
  const auto expected = static_cast<uint32_t>(state.serial);
  if (state.phase == kAsked) {
    if (!channel_.has_come(message)) return Progress::kPending;
    const Blocks blocks(step.bytes, member_.fragment_bytes());
    member_.supply(expected, state.bytes, {channel_.content(message), blocks.bytes(state.bytes)});
  } else if (!member_.has_come(expected)) {
    if (!channel_.has_come(message)) return Progress::kPending;
    LengthOffer offer;
    std::memcpy(&offer, channel_.content(message), sizeof offer);
    channel_.compare_lengths(step.peer, offer.bytes, step.bytes);
    if (channel_.has_failed()) return Progress::kPending;
    member_.poll();  // whatever has come before the offer has
  }
  channel_.leave(message);
  return ask(step, state, expected);
}

Progress MulticastChain::ask(const Instruction& step, StepState& state, uint32_t expected) {
  const Blocks blocks(step.bytes, member_.fragment_bytes());
  const Ask asked = blocks.first(member_.missing(expected), kMostGivenBytes);
  channel_.send_parked_and_leave(step.peer, std::as_bytes(std::span(&asked, 1)));
  if (asked == 0) return Progress::kDone;
  state.bytes = asked;
  state.serial = pair(channel_.receive_parked(step.peer, blocks.bytes(asked)), expected);
  state.phase = kAsked;
  return Progress::kPending;
}

}  // namespace hocket::carriers
