// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/multicast_steps.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace hocket::carriers {

using engines::Instruction;
using engines::Operands;
using engines::Progress;
using engines::StepState;
using schedule::StepKind;

namespace {

enum Phase : uint8_t { kNotStarted, kUnderWay };

// Reports that a root may not have heard yet.
constexpr size_t kMostReports = 4;

int64_t now() { return static_cast<int64_t>(now_ns()); }

// SplitMix64's finalizer (Steele, Lea, Flood).
uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ value >> 27) * 0x94d049bb133111ebull;
  return value ^ value >> 31;
}

}  // namespace

uint32_t MulticastSteps::reporter(const MulticastShared& shared, uint32_t stream, uint32_t source, uint64_t number) {
  const auto others = static_cast<uint64_t>(shared.participants.size()) - 1;
  const uint64_t drawn = mix(shared.seed ^ mix(number ^ mix(uint64_t{source} << 8 | stream))) % others;
  const auto own = static_cast<uint64_t>(std::find(shared.participants.begin(), shared.participants.end(), source) -
                                         shared.participants.begin());
  return shared.participants[drawn < own ? drawn : drawn + 1];
}

void MulticastSteps::begin(const engines::Program& program) {
  is_row_ = program.multicasts_row;
  is_long_ = is_row_ || is_long(program);
  is_first_ = is_reported_ = false;
  if (is_row_) return row_.begin(program);
  if (program.multicast_bytes == 0) [[likely]]
    return;
  is_first_ = true;
  const RootDelay::Kind kind = shared_.delay.kind;
  is_reported_ = kind == RootDelay::Kind::kAdaptive || kind == RootDelay::Kind::kRandom ||
                 program.multicast_bytes > shared_.reported_bytes;
}

Progress MulticastSteps::run(const Instruction& step, StepState& state, const Operands& operands) {
  if (has_failed() || channel_.has_failed()) return Progress::kPending;
  if (step.kind == StepKind::kMulticast) return run_multicast(step, state, operands);
  if (is_row_) return row_.run(step, state, operands, stream_);
  if (step.kind == StepKind::kFirstOf) return run_first_of(step, state, operands);
  return chain_.pass_on(step, state, operands);
}

bool MulticastSteps::poll() {
  if (!shared_.member.expects()) return false;
  shared_.member.poll();
  return !is_long_ && channel_.left() < kMostLeft &&
         std::any_of(awaited_.begin(), awaited_.end(), [&](uint32_t one) { return shared_.member.has_come(one); });
}

void MulticastSteps::after_poll() {
  while (!reports_.empty() && channel_.has_come(reports_.front())) {
    receive(reports_.front());
    reports_.pop_front();
  }
}

void MulticastSteps::cancel() {
  reports_.clear();
  chain_.cancel();
  row_.cancel();
  is_held_back_ = false;
  sending_ = 0;
  for (const uint32_t expected : awaited_) shared_.member.forget(expected);
  awaited_.clear();
}

bool MulticastSteps::sleep(int64_t limit_ns) {
  pollfd one{shared_.member.descriptor(), POLLIN, 0};
  const timespec limit{limit_ns / 1'000'000'000, limit_ns % 1'000'000'000};
  return ppoll(&one, 1, &limit, nullptr) > 0;
}

// --- the root ------------------------------------------------------------------------------------------------------

void MulticastSteps::hold_back(uint64_t number) {
  is_held_back_ = true;
  if (is_reported_) {
    const uint32_t from = reporter(shared_, stream_, shared_.self, number);
    reports_.push_back(channel_.receive_parked(from, sizeof(engines::multicast::PaceReport)));
  }
  held_until_ns_ =
      now() + (shared_.delay.kind == RootDelay::Kind::kAdaptive ? shared_.adaptive.ns() : shared_.delay.ns);
}

// Reports that may be under way when it sends: by random synchronization none.
size_t MulticastSteps::most_pending_reports() const {
  return shared_.delay.kind == RootDelay::Kind::kRandom ? 0 : kMostReports;
}

bool MulticastSteps::may_go() {
  if (!is_held_back_) return true;
  if (reports_.size() > most_pending_reports() || now() < held_until_ns_) return false;
  is_held_back_ = false;
  return true;
}

void MulticastSteps::receive(uint32_t message) {
  engines::multicast::PaceReport report;
  std::memcpy(&report, channel_.content(message), sizeof report);
  channel_.leave(message);
  shared_.pace.receive(report);
  shared_.adaptive.receive(report);
}

Progress MulticastSteps::run_multicast(const Instruction& step, StepState& state, const Operands& operands) {
  if (state.phase == kNotStarted) {
    state.phase = kUnderWay;
    ++sending_;
    state.serial = shared_.member.next(stream_);
    if (std::exchange(is_first_, false)) hold_back(state.serial);
  }
  if (!may_go()) return Progress::kPending;
  // What datagrams have no numbers for goes down the chain only.
  const bool has_numbers = step.bytes <= UINT32_MAX;
  if (has_numbers && !send(step, state, operands)) return Progress::kPending;
  --sending_;
  return Progress::kDone;
}

// As much as the pace allows; true: all of it. state.bytes: what has gone. A message of no bytes is one fragment, too.
bool MulticastSteps::send(const Instruction& step, StepState& state, const Operands& operands) {
  const std::byte* from = step.bytes == 0 ? nullptr : operands.source(step);
  const engines::multicast::Member::Message message{stream_, state.serial, {from, step.bytes}};
  do {
    const int64_t at_ns = now();
    if (!shared_.pace.may_send(at_ns)) return false;
    const Result<uint64_t> next = shared_.member.send(message, state.bytes, shared_.pace.at_once(step.value));
    if (!next.is_ok()) {
      failure_ = Status(next.status().code(), next.status().message());
      return false;
    }
    shared_.pace.sent(at_ns, next.value() - state.bytes, step.value);
    state.bytes = next.value();
  } while (state.bytes < step.bytes);
  return true;
}

// --- the others ------------------------------------------------------------------------------------------------------

void MulticastSteps::report(uint32_t source, uint64_t number) {
  if (reporter(shared_, stream_, source, number) != shared_.self) return;
  const auto [expected, missed] = shared_.member.take_losses();
  const engines::multicast::PaceReport report{expected, missed};
  channel_.send_parked_and_leave(source, std::as_bytes(std::span(&report, 1)));
}

// state.serial: the multicast and the message that the step awaits. state.bytes is not used.
Progress MulticastSteps::run_first_of(const Instruction& step, StepState& state, const Operands& operands) {
  engines::multicast::Member& member = shared_.member;
  if (state.phase == kNotStarted) {
    if (channel_.left() >= kMostLeft) return Progress::kPending;
    std::byte* into = step.bytes == 0 ? nullptr : operands.destination(step);
    uint64_t number = 0;
    const uint32_t expected = member.expect(stream_, step.second_peer, {into, step.bytes}, number);
    if (std::exchange(is_first_, false) && is_reported_) report(step.second_peer, number);
    if (is_long_) {
      chain_.await(step, state, expected);
    } else {
      state.serial = uint64_t{channel_.receive_parked(step.peer, step.bytes)} << 32 | expected;
      state.phase = kUnderWay;
    }
    awaited_.push_back(expected);
  }
  if (is_long_) {
    if (chain_.take(step, state) == Progress::kPending) return Progress::kPending;
    member.forget(static_cast<uint32_t>(state.serial));
    std::erase(awaited_, static_cast<uint32_t>(state.serial));
    return Progress::kDone;
  }
  const auto message = static_cast<uint32_t>(state.serial >> 32);
  const auto expected = static_cast<uint32_t>(state.serial);
  if (!member.has_come(expected)) {
    if (!channel_.has_come(message)) return Progress::kPending;
    if (step.bytes != 0) std::memcpy(operands.destination(step), channel_.content(message), step.bytes);
  }
  member.forget(expected);
  channel_.leave(message);
  std::erase(awaited_, expected);
  return Progress::kDone;
}

}  // namespace hocket::carriers
