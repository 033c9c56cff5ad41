// SPDX-License-Identifier: BSD-3-Clause
#include "engines/wire/channel.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/assertion.h"

namespace hocket::engines::wire {

using schedule::StepKind;

namespace {

// Longer room for operands goes back to the heap as soon as they have been combined.
constexpr uint64_t kLongestKept = 1 << 20;

enum Phase : uint8_t { kNotStarted, kUnderWay, kArrived };

// What could not be taken back may still be written to, for as long as the process lives.
void leave_to_network(std::unique_ptr<std::byte[]> memory) {
  static std::mutex mutex;
  static auto* const left = new std::vector<std::unique_ptr<std::byte[]>>;
  const std::lock_guard lock(mutex);
  left->push_back(std::move(memory));
}

}  // namespace

void Channel::watch(Ticket ticket, const Posted& posted) {
  ++posted.state->bytes;
  tickets_.push_back(ticket);
  posted_.push_back(posted);
}

bool Channel::poll() {
  if (is_awaited() || left_ >= kMostLeftAlone) move();
  return false;
}

void Channel::move() {
  if (tickets_.empty() || has_failed()) return;
  lengths_.resize(tickets_.size());
  Status status = wire_.test(tickets_.size(), tickets_.data(), lengths_.data());
  // After a failure, too: those that are done must not be cancelled.
  size_t kept = 0;
  for (size_t i = 0; i < tickets_.size(); ++i) {
    if (tickets_[i] == 0) {
      settle(posted_[i], lengths_[i]);
      continue;
    }
    tickets_[kept] = tickets_[i];
    posted_[kept++] = posted_[i];
  }
  tickets_.resize(kept);
  posted_.resize(kept);
  if (left_ != 0) [[unlikely]]
    sweep();
  if (!status.is_ok()) failure_ = std::move(status);
}

template <typename Chooses>
std::vector<uint32_t> Channel::peers_of(const Chooses& chooses) const {
  std::vector<uint32_t> peers;
  for (const Posted& posted : posted_)
    if (chooses(posted) && std::find(peers.begin(), peers.end(), posted.peer) == peers.end())
      peers.push_back(posted.peer);
  return peers;
}

std::vector<uint32_t> Channel::peers() const {
  return peers_of([](const Posted&) { return true; });
}

std::vector<uint32_t> Channel::senders() const {
  return peers_of([](const Posted& posted) { return posted.is_receive; });
}

// Messages of one sender are matched in the order in which they were sent: those before a stranger have their receives.
bool Channel::has_stranger(uint32_t peer) {
  move();
  const std::vector<uint32_t> awaited = senders();
  if (std::find(awaited.begin(), awaited.end(), peer) == awaited.end()) return false;
  for (uint32_t tag = tags_.first; tag < tags_.first + tags_.count && !has_failed(); ++tag) {
    if (tag == tag_) continue;
    Result<bool> found = wire_.has_unexpected(addresses_[peer], tag);
    if (!found.is_ok())
      failure_ = found.take_status();
    else if (found.value())
      return true;
  }
  return false;
}

void Channel::settle(const Posted& posted, size_t bytes) {
  HOCKET_ASSERT(posted.state->bytes != 0, "each piece of a message is done once");
  if (--posted.state->bytes == 0) posted.state->phase = kArrived;
  if (posted.is_receive) compare_lengths(posted.peer, bytes, posted.expected);
}

void Channel::compare_lengths(uint32_t peer, uint64_t bytes, uint64_t expected) {
  if (bytes == expected) return;
  failure_ = Status(Code::kMismatch, "rank " + std::to_string(peer) + " sends " + std::to_string(bytes) +
                                         " bytes where rank " + std::to_string(rank_) + " expects " +
                                         std::to_string(expected) + "; the counts of the two ranks don't match");
}

bool Channel::has_steps_under_way() const {
  return std::any_of(posted_.begin(), posted_.end(), [&](const Posted& posted) {
    return std::none_of(parked_.begin(), parked_.end(), [&](const Parked& one) { return &one.state == posted.state; });
  });
}

void Channel::begin(const Program&) {
  HOCKET_ASSERT(!has_steps_under_way(), "whatever was posted has been done or cancelled before the next call");
}

Progress Channel::run(const Instruction& step, StepState& state, const Operands& operands) {
  if (has_failed()) return Progress::kPending;
  if (state.phase == kNotStarted) post(step, state, operands);
  if (state.phase != kArrived) return Progress::kPending;
  finish(step, state, operands);
  return Progress::kDone;
}

void Channel::post(const Instruction& step, StepState& state, const Operands& operands) {
  HOCKET_ASSERT(step.peer < addresses_.size(), "a step that leaves the node names a rank");
  const bool sends = step.kind == StepKind::kSend;
  const std::byte* from = nullptr;
  std::byte* into = nullptr;
  if (sends) {
    operands.need(step, 0, step.bytes);
    if (step.bytes != 0) from = operands.source(step);
  } else if (step.kind == StepKind::kReceiveCombine) {
    state.serial = take_bounce(step.bytes);
    into = bounces_[state.serial].memory.get();
  } else if (step.bytes != 0) {
    into = operands.destination(step);
  }
  state.phase = kUnderWay;
  state.bytes = 1;  // pieces under way, and one more until all have been posted
  uint64_t at = 0;
  do {
    const uint64_t bytes = std::min(step.bytes - at, longest_piece_);
    Ticket ticket = 0;
    failure_ = sends ? wire_.post_send(addresses_[step.peer], tag_, from + at, bytes, ticket)
                     : wire_.post_receive(addresses_[step.peer], tag_, into + at, bytes, ticket);
    if (has_failed()) return;
    if (ticket != 0) {
      has_just_posted_ = true;
      watch(ticket, {&state, bytes, step.peer, !sends});
    }
    at += bytes;
  } while (at < step.bytes);
  if (--state.bytes == 0) state.phase = kArrived;
}

void Channel::finish(const Instruction& step, const StepState& state, const Operands& operands) {
  if (step.kind == StepKind::kReceive) operands.arrived(step, 0, step.bytes);
  if (step.kind != StepKind::kReceiveCombine) return;
  Bounce& bounce = bounces_[state.serial];
  operands.combine(step, bounce.memory.get(), 0, step.elements);
  free_bounce(state.serial);
}

void Channel::free_bounce(uint64_t index) {
  Bounce& bounce = bounces_[index];
  bounce.in_use = false;
  if (bounce.bytes <= kLongestKept) return;
  bounce.memory.reset();
  bounce.bytes = 0;
}

uint64_t Channel::take_bounce(uint64_t bytes) {
  size_t index = 0;
  while (index < bounces_.size() && (bounces_[index].in_use || bounces_[index].bytes < bytes)) ++index;
  if (index == bounces_.size()) {
    // One that is free but too short is made longer.
    index = 0;
    while (index < bounces_.size() && bounces_[index].in_use) ++index;
    if (index == bounces_.size()) bounces_.emplace_back();
    bounces_[index].memory = std::make_unique_for_overwrite<std::byte[]>(std::max<uint64_t>(bytes, 1));
    bounces_[index].bytes = bytes;
  }
  bounces_[index].in_use = true;
  return index;
}

uint32_t Channel::new_parked(uint64_t bytes) {
  uint32_t number = 0;
  while (number < parked_.size() && parked_[number].in_use) ++number;
  if (number == parked_.size()) parked_.emplace_back();
  parked_[number] = {.state = {.phase = kUnderWay}, .bounce = take_bounce(bytes), .in_use = true};
  return number;
}

uint32_t Channel::receive_parked(uint32_t peer, uint64_t bytes) {
  const uint32_t number = new_parked(bytes);
  Parked& message = parked_[number];
  Ticket ticket = 0;
  if (!has_failed())
    failure_ = wire_.post_receive(addresses_[peer], tag_, bounces_[message.bounce].memory.get(), bytes, ticket);
  note_posted(message, ticket, {&message.state, bytes, peer, true});
  return number;
}

// A message that can't be posted never comes: its memory must not be taken for content.
void Channel::note_posted(Parked& message, Ticket ticket, const Posted& posted) {
  if (has_failed()) {
    free_bounce(message.bounce);
    return;
  }
  if (ticket == 0) {
    message.state.phase = kArrived;
    return;
  }
  has_just_posted_ = has_just_posted_ || posted.is_receive;
  watch(ticket, posted);
}

bool Channel::has_come(uint32_t message) const {
  HOCKET_ASSERT(message < parked_.size() && parked_[message].in_use,
                "a message beside the steps is asked for by its number");
  return parked_[message].state.phase == kArrived;
}

void Channel::leave(uint32_t message) {
  HOCKET_ASSERT(message < parked_.size() && parked_[message].in_use && !parked_[message].is_left,
                "a message is left once");
  Parked& one = parked_[message];
  if (one.state.phase == kArrived) {
    free_bounce(one.bounce);
    one.in_use = false;
    return;
  }
  one.is_left = true;
  ++left_;
}

uint32_t Channel::send_parked(uint32_t peer, std::span<const std::span<const std::byte>> pieces) {
  uint64_t bytes = 0;
  for (const std::span<const std::byte> piece : pieces) bytes += piece.size();
  const uint32_t number = new_parked(bytes);
  Parked& message = parked_[number];
  std::byte* memory = bounces_[message.bounce].memory.get();
  for (std::byte* end = memory; const std::span<const std::byte> piece : pieces)
    end = std::copy(piece.begin(), piece.end(), end);
  Ticket ticket = 0;
  if (!has_failed()) failure_ = wire_.post_send(addresses_[peer], tag_, memory, bytes, ticket);
  note_posted(message, ticket, {&message.state, bytes, peer, false});
  return number;
}

void Channel::send_parked_and_leave(uint32_t peer, std::span<const std::byte> message) {
  leave(send_parked(peer, {&message, 1}));
}

// Those that were left and have come.
void Channel::sweep() {
  for (Parked& message : parked_) {
    if (!message.in_use || !message.is_left || message.state.phase != kArrived) continue;
    free_bounce(message.bounce);
    message.in_use = false;
    --left_;
  }
}

void Channel::cancel() {
  parked_.clear();
  left_ = 0;
  for (const Ticket ticket : tickets_) wire_.cancel(ticket);
  tickets_.clear();
  posted_.clear();
  for (Bounce& bounce : bounces_) {
    if (bounce.in_use) leave_to_network(std::move(bounce.memory));
  }
  std::erase_if(bounces_, [](const Bounce& bounce) { return bounce.in_use; });
}

}  // namespace hocket::engines::wire
