// SPDX-License-Identifier: BSD-3-Clause
// What lets other ranks go on: messages, publications, counters, multicasts.
#include <algorithm>

#include "simulation/engine/state.h"

namespace hocket::simulation {

// When the step can be carried out, if that is known; if not, it is found when it is.
Time Engine::State::available(uint32_t number) {
  const Step& step = job_.steps[number];
  switch (step.work) {
    case Work::kTake:
      return step.partner == kNothing ? kNever : steps_[step.partner].known();
    case Work::kFirstOf:
      return available_of_both(number);
    case Work::kRead:
    case Work::kPut: {
      if (step.partner == kNothing) return kNever;
      StepState& published = steps_[step.partner];
      if (published.known() != kNever) return published.there;
      steps_[number].link = published.first_waiting();
      published.set_first_waiting(number);
      return kNever;
    }
    case Work::kWait: {
      Counter& counter = counters_[step.other];
      if (counter.sum >= step.value) return 0;
      steps_[number].link = counter.waiting;
      counter.waiting = number;
      return kNever;
    }
    default:
      return 0;
  }
}

bool Engine::State::comes_by_multicast(uint32_t number) const {
  const Step& step = job_.steps[number];
  const Time message = step.partner == kNothing ? kNever : steps_[step.partner].known();
  const Time multicast = step.other == kNothing ? kNever : steps_[step.other].known();
  return multicast < message && reaches(step.other, step.rank);
}

Time Engine::State::available_of_both(uint32_t number) const {
  const Step& step = job_.steps[number];
  if (comes_by_multicast(number)) return steps_[step.other].known();
  return step.partner == kNothing ? kNever : steps_[step.partner].known();
}

// Whether its rank waits for it now.
bool Engine::State::is_awaited_by(uint32_t step) const {
  if (step == kNothing || steps_[step].progress != Progress::kWaiting) return false;
  const Rank& rank = ranks_[job_.steps[step].rank];
  return rank.has_started && step >= rank.begin && step < rank.end;
}

void Engine::State::wake(uint32_t step, Time time) { push(std::max(time, queue_.now()), What::kReady, step); }

// Lists have who came last first.
void Engine::State::wake_all(const std::vector<uint32_t>& last_first, Time time) {
  for (auto step = last_first.rbegin(); step != last_first.rend(); ++step) wake(*step, time);
}

void Engine::State::release(uint32_t number, Time time) {
  steps_[number].there = time;
  const uint32_t taking = job_.steps[number].partner;
  if (is_awaited_by(taking)) wake(taking, time);
}

void Engine::State::publish(uint32_t number, Time end) {
  std::vector<uint32_t> waiting;
  for (uint32_t step = steps_[number].first_waiting(); step != kNothing; step = steps_[step].link)
    waiting.push_back(step);
  steps_[number].there = end;
  wake_all(waiting, end);
}

void Engine::State::send_local(uint32_t number, Time end) {
  const Step& step = job_.steps[number];
  ++outcome_.local_messages;
  const Time whole = step.is(Step::kCopies) ? prices_.copied(step.bytes) : 0;
  const Time begins = end - std::min(whole - prices_.fragment(step), end);
  release(number, begins);
  if (observer != nullptr) observer->carried({number, step.other, begins, end});
}

void Engine::State::send_by_wire(uint32_t number, Time time) {
  const Step& step = job_.steps[number];
  ++outcome_.messages;
  outcome_.bytes += step.bytes;
  if (observer != nullptr) left_[number] = time;
  Time arrives = wire_.send(step, time);
  if (const double loss = network_.more.loss; loss > 0) {
    constexpr uint64_t kMostAttempts = 1000;
    uint64_t lost = 0;
    while (lost < kMostAttempts && random_fraction(situation_.seed, Purpose::kLoss, number, lost) < loss) ++lost;
    outcome_.repeated += lost;
    arrives += lost * from_us(network_.more.repeat_us);
  }
  push(arrives, What::kArrive, number);
}

bool Engine::State::waits_in_line(std::vector<Line>& lines, uint32_t rank, Time until, What next, uint32_t step) {
  if (until == 0) return false;
  if (lines.empty()) lines.resize(ranks_.size());
  Line& line = lines[rank];
  if (line.first == kNothing) {
    if (until <= queue_.now()) return false;
    push(until, next, rank);
  }
  append(line, step);
  return true;
}

void Engine::State::receive(uint32_t number) {
  const Step& step = job_.steps[number];
  const Time there = wire_.receive(step, queue_.now());
  release(number, there);
  if (observer != nullptr) observer->carried({number, step.other, left_[number], there});
}

// Whether the multicast gets to the rank, which is so however often it is asked.
bool Engine::State::reaches(uint32_t multicast, uint32_t rank) const {
  if (network_.more.multicast_needs_receiver != 0 && outcome_.began[rank] > steps_[multicast].there) return false;
  if (network_.more.multicast_loss <= 0) return true;
  constexpr int kRankBits = 32;
  const uint64_t fragments = prices_.fragments_of(job_.steps[multicast].bytes);
  for (uint64_t fragment = 0; fragment < fragments; ++fragment)
    if (random_fraction(situation_.seed, Purpose::kMulticastLoss, multicast, rank | fragment << kRankBits) <
        network_.more.multicast_loss)
      return false;
  return true;
}

void Engine::State::cast(uint32_t number) {
  const Step& step = job_.steps[number];
  ++outcome_.multicasts;
  const Time left = wire_.multicast(step, queue_.now());
  const Time there =
      left + (network_.more.multicast_alpha_us > 0 ? from_us(network_.more.multicast_alpha_us) : prices_.wire_alpha);
  steps_[number].there = there;
  const auto by_multicast = [](const Job::Taker& taker, uint32_t multicast) { return taker.multicast < multicast; };
  auto taker = std::lower_bound(job_.takers.begin(), job_.takers.end(), number, by_multicast);
  for (; taker != job_.takers.end() && taker->multicast == number; ++taker) {
    const uint32_t rank = job_.steps[taker->step].rank;
    const bool comes = reaches(number, rank);
    if (!comes) ++outcome_.missed;
    if (comes && is_awaited_by(taker->step)) wake(taker->step, there);
    if (observer != nullptr) observer->carried({number, rank, left, comes ? there : kNever});
  }
}

void Engine::State::add(uint32_t number) {
  const Step& step = job_.steps[number];
  Counter& counter = counters_[step.other];
  counter.sum += step.value;
  counter.last_step = number;
  std::vector<uint32_t> reached;
  for (uint32_t* link = &counter.waiting; *link != kNothing;) {
    const uint32_t waiting = *link;
    if (job_.steps[waiting].value > counter.sum) {
      link = &steps_[waiting].link;
      continue;
    }
    *link = steps_[waiting].link;
    reached.push_back(waiting);
  }
  wake_all(reached, queue_.now());
}

}  // namespace hocket::simulation
