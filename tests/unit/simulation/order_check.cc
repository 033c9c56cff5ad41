// SPDX-License-Identifier: BSD-3-Clause
#include "order_check.h"

#include <algorithm>
#include <numeric>

namespace hocket::simulation {

using schedule::StepKind;

OrderCheck::OrderCheck(std::span<const schedule::Plan> plans, const schedule::Nodes& nodes, const Watching& seen,
                       const Outcome& outcome)
    : plans_(plans), nodes_(nodes), seen_(seen), outcome_(outcome) {
  for (uint32_t rank = 0; rank < plans.size(); ++rank) {
    begins_.push_back(static_cast<uint32_t>(places_.size()));
    for (uint32_t step = 0; step < plans[rank].steps.size(); ++step) places_.push_back({rank, step});
  }
  begins_.push_back(static_cast<uint32_t>(places_.size()));
}

const schedule::Step& OrderCheck::step_of(uint32_t number) const {
  return plans_[places_[number].rank].steps[places_[number].step];
}

bool OrderCheck::is_by_wire(uint32_t number) const {
  return !nodes_.together(places_[number].rank, step_of(number).peer);
}

void OrderCheck::fail(uint32_t number, const std::string& what) {
  if (problem_.empty())
    problem_ = "step " + std::to_string(places_[number].step) + " of rank " + std::to_string(places_[number].rank) +
               " " + what;
}

std::string OrderCheck::problem() {
  if (!outcome_.is_finished) return "it doesn't come to its end";
  find_steps();
  if (!problem_.empty()) return problem_;
  check_ranks();
  keep_messages();
  if (!problem_.empty()) return problem_;
  match_messages();
  check_multicasts();
  check_publications();
  check_counters();
  return problem_;
}

// Each is seen, and once.
void OrderCheck::find_steps() {
  times_.assign(places_.size(), {.step = kNothing, .waited = 0, .begin = 0, .end = 0, .cause = kNothing});
  for (const StepTimes& times : seen_.steps) {
    if (times.step >= places_.size()) {
      problem_ = "a step is seen that no plan has";
      return;
    }
    if (times_[times.step].step != kNothing) fail(times.step, "is seen twice");
    times_[times.step] = times;
  }
  for (uint32_t number = 0; number < places_.size(); ++number)
    if (times_[number].step == kNothing) fail(number, "is missing");
}

void OrderCheck::check_ranks() {
  std::vector<Time> busy_until(plans_.size());
  for (const StepTimes& times : seen_.steps) {
    Time& until = busy_until[places_[times.step].rank];
    if (times.begin < until) fail(times.step, "begins while its rank does another one");
    if (times.end < times.begin || times.waited > times.begin) fail(times.step, "ends before it begins");
    until = times.end;
  }
  for (uint32_t rank = 0; rank < plans_.size(); ++rank) check_rank(rank);
}

// One stage comes after the other.
void OrderCheck::check_rank(uint32_t rank) {
  Time stage_begins = outcome_.began[rank];
  Time stage_ends = stage_begins;
  for (uint32_t number = begins_[rank]; number < begins_[rank + 1]; ++number) {
    if (times_[number].begin < stage_begins) fail(number, "begins before the stage before its own has ended");
    stage_ends = std::max(stage_ends, times_[number].end);
    if (step_of(number).ends_stage) stage_begins = stage_ends;
  }
  if (outcome_.ended[rank] < stage_ends || outcome_.end < outcome_.ended[rank])
    problem_ = "rank " + std::to_string(rank) + " ends before its last step does";
}

// Each is carried once, to whom it is for, and not before it is sent.
void OrderCheck::keep_messages() {
  carried_.assign(places_.size(), {.step = kNothing, .receiver = 0, .left = 0, .there = 0});
  for (const MessageTimes& message : seen_.messages) {
    const schedule::Step& step = step_of(message.step);
    if (message.left < times_[message.step].begin) fail(message.step, "sends before it begins");
    if (message.there < message.left) fail(message.step, "sends what is there before it has left");
    if (step.kind == StepKind::kMulticast) {
      if (!multicast_.emplace(Taker(message.step, message.receiver), message.there).second)
        fail(message.step, "multicasts twice");
      continue;
    }
    if (step.kind != StepKind::kSend) fail(message.step, "sends, which its kind does not");
    if (message.receiver != step.peer) fail(message.step, "sends to another rank");
    if (carried_[message.step].step != kNothing) fail(message.step, "sends twice");
    carried_[message.step] = message;
  }
}

// In the order of both ranks.
void OrderCheck::match_messages() {
  std::map<std::pair<uint32_t, uint32_t>, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> pairs;
  for (uint32_t number = 0; number < places_.size(); ++number) {
    const schedule::Step& step = step_of(number);
    const uint32_t rank = places_[number].rank;
    if (step.kind == StepKind::kSend) pairs[{rank, step.peer}].first.push_back(number);
    if (step.kind == StepKind::kReceive || step.kind == StepKind::kReceiveCombine || step.kind == StepKind::kFirstOf)
      pairs[{step.peer, rank}].second.push_back(number);
  }
  for (const auto& [pair, both] : pairs) {
    const auto& [sends, receives] = both;
    if (sends.size() != receives.size()) return fail((sends.empty() ? receives : sends).front(), "has no counterpart");
    for (size_t i = 0; i < sends.size(); ++i) check_message(sends[i], receives[i]);
  }
}

void OrderCheck::check_message(uint32_t send, uint32_t receive) {
  const MessageTimes& message = carried_[send];
  if (message.step == kNothing) return fail(send, "sends nothing that is carried");
  if (step_of(receive).kind == StepKind::kFirstOf) return check_first_of(receive, message.there);
  const StepTimes& taking = times_[receive];
  // On one node the beginning of a message is taken while its end is being written.
  if (taking.begin < (is_by_wire(receive) ? message.there : message.left)) fail(receive, "takes what is not there yet");
  if (taking.end < message.there || taking.end < message.left) fail(receive, "ends before its message is there");
}

void OrderCheck::check_first_of(uint32_t number, Time message) {
  uint32_t place = 0;  // among those of the same multicasting rank
  const auto [rank, step] = places_[number];
  for (uint32_t i = 0; i < step; ++i) {
    const schedule::Step& earlier = plans_[rank].steps[i];
    place += earlier.kind == StepKind::kFirstOf && earlier.second_peer == step_of(number).second_peer;
  }
  const uint32_t source = step_of(number).second_peer;
  for (uint32_t other = begins_[source]; other < begins_[source + 1]; ++other) {
    if (step_of(other).kind != StepKind::kMulticast || place-- != 0) continue;
    const auto found = multicast_.find({other, rank});
    if (found == multicast_.end()) return fail(other, "multicasts nothing to who asks for it");
    if (times_[number].begin < std::min(message, found->second)) fail(number, "takes what neither way has brought yet");
    return;
  }
  fail(number, "waits for a multicast that nobody sends");
}

void OrderCheck::check_multicasts() {
  for (const auto& [taker, there] : multicast_) {
    const std::vector<schedule::Step>& steps = plans_[taker.second].steps;
    const uint32_t source = places_[taker.first].rank;
    if (std::none_of(steps.begin(), steps.end(), [&](const schedule::Step& step) {
          return step.kind == StepKind::kFirstOf && step.second_peer == source;
        }))
      fail(taker.first, "multicasts to a rank that doesn't ask for it");
  }
}

void OrderCheck::check_publications() {
  for (uint32_t number = 0; number < places_.size(); ++number)
    if (schedule::is_one_sided(step_of(number).kind)) check_use(number, step_of(number));
}

// Not before it is published; of what the rank itself has exposed, not before all is put there.
void OrderCheck::check_use(uint32_t number, const schedule::Step& step) {
  const uint32_t rank = places_[number].rank;
  bool is_found = false;
  for (uint32_t other = begins_[step.peer]; other < begins_[step.peer + 1]; ++other) {
    const schedule::Step& published = step_of(other);
    if (!schedule::is_publication(published.kind) || published.slot != step.slot || published.version != step.version)
      continue;
    is_found = true;
    if (times_[number].begin < times_[other].end) fail(number, "uses what is not published yet");
  }
  if (!is_found) return fail(number, "uses what nobody publishes");
  for (uint32_t other = 0; step.peer == rank && other < places_.size(); ++other) {
    const schedule::Step& put = step_of(other);
    if (put.kind == StepKind::kPut && put.peer == rank && put.slot == step.slot && put.version == step.version &&
        times_[number].begin < times_[other].end)
      fail(number, "takes what is not put yet");
  }
}

// A wait goes on when that much has been added.
void OrderCheck::check_counters() {
  // A rank's own, or those of a node.
  using Counter = std::tuple<bool, uint32_t, uint8_t>;
  const auto counter_of = [&](uint32_t number) {
    const schedule::Step& step = step_of(number);
    const uint32_t rank = places_[number].rank;
    if (step.peer == schedule::kShared) return Counter(true, nodes_.node_of(rank), step.slot);
    return Counter(false, step.kind == StepKind::kAdd ? step.peer : rank, step.slot);
  };
  std::map<Counter, std::vector<uint32_t>> additions;
  for (uint32_t number = 0; number < places_.size(); ++number)
    if (step_of(number).kind == StepKind::kAdd) additions[counter_of(number)].push_back(number);
  for (uint32_t number = 0; number < places_.size(); ++number) {
    if (step_of(number).kind != StepKind::kWaitUntil) continue;
    uint64_t sum = 0;
    for (const uint32_t added : additions[counter_of(number)])
      if (times_[added].end <= times_[number].begin) sum += step_of(added).value;
    if (sum < step_of(number).value) fail(number, "goes on before its counter has come so far");
  }
}

std::vector<OrderCheck::Turn> OrderCheck::turns() const {
  std::vector<uint32_t> order(seen_.steps.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(seen_.steps[a].end, a) < std::pair(seen_.steps[b].end, b);
  });
  std::vector<Turn> turns;
  turns.reserve(order.size());
  for (const uint32_t i : order) turns.push_back(places_[seen_.steps[i].step]);
  return turns;
}

}  // namespace hocket::simulation
