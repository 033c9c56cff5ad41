// SPDX-License-Identifier: BSD-3-Clause
// The walk: when each step of each rank begins and ends.
#include "selection/pricing/walk.h"
#include "selection/pricing/memory.h"
#include "selection/pricing/wire.h"

#include <algorithm>

namespace hocket::selection {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// How many of the orders in which ranks may share the cores are averaged.
constexpr uint64_t kOrders = 3;

class Walk {
 public:
  Walk(const PricedSchedule& schedule, const CostParameters& parameters, bool oversubscribed, bool by_time)
      : schedule_(schedule),
        parameters_(parameters),
        memory_(schedule, parameters, !oversubscribed),
        wire_(schedule, parameters, by_time),
        done_at_(schedule.steps.size(), kNever),
        there_at_(schedule.steps.size(), kNever),
        counters_(schedule.counters),
        ranks_(schedule.ranks()) {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].begin = schedule.begins[rank];
      find_stage(rank);
    }
  }

  double on_own_cores() {
    // The walk waits for a known event only when no rank can do anything else, since an event that is not known yet may
    // come first.
    while (unfinished_ > 0) {
      bool moved = false;
      for (uint32_t rank = 0; rank < ranks_.size(); ++rank) moved |= advance(rank);
      if (moved) continue;
      // Nobody else can do more than before until somebody has done what others may wait for.
      const uint64_t before = released_;
      while (unfinished_ > 0 && released_ == before) {
        const uint32_t next = earliest();
        if (next == kNothing) return kNever;
        ranks_[next].clock = std::max(ranks_[next].clock, ranks_[next].known);
        advance(next);
      }
    }
    return last_end_;
  }

  // A rank that must wait goes to the end of its node's row, as by a yield, and the next one gets the core. `order`
  // says how the rows stand in the beginning, which no schedule may count on.
  double on_shared_cores(uint64_t order) {
    shuffle(order);
    std::vector<Machine> machines = machines_of_ranks();
    size_t in_vain = 0;
    size_t rounds_in_vain = 0;
    while (unfinished_ > 0) {
      Machine& machine = next_machine(machines);
      const auto core = std::min_element(machine.free_at.begin(), machine.free_at.end());
      Rank& running = ranks_[next_in_row(machine)];
      running.clock = std::max(running.clock, *core);
      running.turn = ++turns_;
      const bool moved = advance(static_cast<uint32_t>(&running - ranks_.data()));
      running.clock += machine.switch_us;
      *core = running.clock;
      in_vain = moved ? 0 : in_vain + 1;
      if (moved) rounds_in_vain = 0;
      if (in_vain <= unfinished_ + cores_) continue;
      // All have looked: until what comes next, they only go round. What that is, only a rank may know that has yet to
      // reach the time of the others.
      const uint32_t next = earliest();
      const double then = next != kNothing ? ranks_[next].known : furthest();
      if (next == kNothing && ++rounds_in_vain > ranks_.size()) return kNever;  // a deadlock
      for (Machine& each : machines)
        for (double& time : each.free_at) time = std::max(time, then);
      in_vain = 0;
    }
    return last_end_;
  }

 private:
  void shuffle(uint64_t order) {
    const size_t count = ranks_.size();
    for (size_t i = 0; i < count; ++i) ranks_[i].turn = i;
    for (size_t i = count; i > 1; --i) {
      order = order * 6364136223846793005u + 1442695040888963407u;
      std::swap(ranks_[i - 1].turn, ranks_[(order >> 33) % i].turn);
    }
    turns_ = count;
  }

  struct Rank {
    uint32_t begin = 0;  // of the current stage
    uint32_t end = 0;
    uint32_t pending = 0;
    double clock = 0;
    double known = kNever;  // when the first of the steps it waits for can begin, if that is known
    uint64_t turn = 0;
    bool finished = false;
  };
  // Whose cores some ranks share.
  struct Machine {
    std::vector<uint32_t> ranks;
    std::vector<double> free_at;  // each core
    double switch_us = 0;
  };
  struct Counter {
    std::vector<std::pair<double, uint32_t>> additions;  // by time
    uint64_t sum = 0;
  };

  std::vector<Machine> machines_of_ranks() {
    const bool is_one = parameters_.one_machine != 0;
    std::vector<Machine> machines(is_one ? 1 : schedule_.users.size());
    size_t most = 0;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      Machine& machine = machines[is_one ? 0 : schedule_.node_of[rank]];
      machine.ranks.push_back(rank);
      most = std::max(most, machine.ranks.size());
    }
    // The fullest is short of cores, whatever number the parameters say.
    const size_t cores = std::clamp<size_t>(parameters_.cores, 1, std::max<size_t>(most, 2) - 1);
    for (Machine& machine : machines) {
      const bool is_oversubscribed = machine.ranks.size() > cores;
      machine.free_at.resize(is_oversubscribed ? cores : machine.ranks.size());
      machine.switch_us = is_oversubscribed ? parameters_.switch_us : parameters_.alpha_us;
      cores_ += machine.free_at.size();
    }
    return machines;
  }

  // Whose core is free first.
  Machine& next_machine(std::vector<Machine>& machines) const {
    if (machines.size() == 1) return machines.front();
    Machine* found = nullptr;
    double first = kNever;
    for (Machine& machine : machines) {
      const bool has_work = std::any_of(machine.ranks.begin(), machine.ranks.end(),
                                        [&](uint32_t rank) { return !ranks_[rank].finished; });
      const double free_at = *std::min_element(machine.free_at.begin(), machine.free_at.end());
      if (!has_work || (found != nullptr && free_at >= first)) continue;
      found = &machine;
      first = free_at;
    }
    return *found;
  }

  bool is_done(uint32_t step) const { return done_at_[step] != kNever; }

  void find_stage(uint32_t rank) {
    Rank& state = ranks_[rank];
    const uint32_t last = schedule_.begins[rank + 1];
    state.end = state.begin;
    while (state.end < last && !schedule_.steps[state.end].ends_stage) ++state.end;
    if (state.end < last) ++state.end;
    state.pending = state.end - state.begin;
    if (state.pending > 0) return;
    state.finished = true;
    --unfinished_;
    last_end_ = std::max(last_end_, state.clock);
  }

  // Does what can be done now. Whether that was anything.
  bool advance(uint32_t rank) {
    Rank& state = ranks_[rank];
    bool moved = false;
    while (!state.finished) {
      state.known = kNever;
      bool ran = false;
      for (uint32_t step = state.begin; step < state.end; ++step) {
        if (is_done(step)) continue;
        const double from = available(schedule_.steps[step]);
        if (from > state.clock) {
          state.known = std::min(state.known, from);
          continue;
        }
        state.clock = run(rank, step, state.clock);
        --state.pending;
        ran = true;
      }
      moved |= ran;
      if (state.pending == 0) {
        state.begin = state.end;
        find_stage(rank);
      } else if (!ran) {
        break;
      }
    }
    return moved;
  }

  double available(const PricedStep& step) const {
    double from = 0;
    // A message can be taken when its first fragment is there.
    if (step.producer != kNothing) from = is_done(step.producer) ? started_at(step) : kNever;
    if (step.waits_for != kNothing) from = std::max(from, reached_at(counters_[step.waits_for], step.value));
    return from;
  }

  double started_at(const PricedStep& step) const {
    if (step.by_wire) return there_at_[step.producer];
    const double rest_kib = std::max(schedule_.steps[step.producer].moved_kib - step.first_kib, 0.0);
    return step.first_kib > 0 ? done_at_[step.producer] - rest_kib * parameters_.beta_us_per_kib
                              : done_at_[step.producer];
  }

  static double reached_at(const Counter& counter, uint32_t value) {
    if (counter.sum < value) return kNever;
    uint64_t sum = 0;
    for (const auto& [time, added] : counter.additions) {
      sum += added;
      if (sum >= value) return time;
    }
    return 0;
  }

  static bool sends(const PricedStep& step) { return step.to_rank != kNothing || step.is_multicast; }
  bool is_by_processor(const PricedStep& step) const {
    return sends(step) && step.wire_kib * 1024 <= parameters_.wire_pio_bytes && parameters_.wire_pio_bytes > 0;
  }
  // By a processor, besides what it writes into an interface.
  double copied_kib(const PricedStep& step) const {
    const bool is_free = step.by_wire && (is_by_processor(step) || parameters_.wire_dma != 0);
    return is_free ? 0 : step.moved_kib;
  }
  // What a processor reads that is in no cache. Where messages are copied when they are taken, that is then.
  double missed_kib(const PricedStep& step) const {
    if (parameters_.wire_dma == 0) return step.by_wire && !sends(step) ? step.moved_kib : 0;
    if (!step.by_wire || is_by_processor(step)) return step.unread_kib;
    return sends(step) ? 0 : step.combined_kib;
  }

  // When it ends.
  double run(uint32_t rank, uint32_t number, double begin) {
    const PricedStep& step = schedule_.steps[number];
    if (memory_.counts()) begin = memory_.reach(rank, number, begin);
    double end = begin + step.alphas * parameters_.alpha_us + copied_kib(step) * parameters_.beta_us_per_kib +
                 step.combined_kib * parameters_.gamma_us_per_kib + (step.by_wire ? parameters_.wire_overhead_us : 0);
    end += missed_kib(step) * parameters_.wire_miss_us_per_kib;
    if (memory_.counts()) end = memory_.move(rank, number, begin, end);
    if (step.to_rank != kNothing) there_at_[number] = wire_.carry(rank, step, end);
    if (step.is_multicast) there_at_[number] = wire_.multicast(rank, step, end);
    // The message goes out while it is being written.
    if (is_by_processor(step)) end += wire_.alone_us(step);
    if (step.producer != kNothing && step.first_kib > 0 && !step.by_wire)
      end = std::max(end, done_at_[step.producer] + step.first_kib * parameters_.beta_us_per_kib);
    done_at_[number] = end;
    if (step.is_awaited || step.adds_to != kNothing) ++released_;
    if (step.adds_to != kNothing) {
      Counter& counter = counters_[step.adds_to];
      counter.sum += step.value;
      const std::pair<double, uint32_t> addition(end, step.value);
      counter.additions.insert(std::upper_bound(counter.additions.begin(), counter.additions.end(), addition),
                               addition);
    }
    return end;
  }

  // The rank for which something comes first, or kNothing if no rank waits for a known event.
  uint32_t earliest() const {
    uint32_t found = kNothing;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const Rank& state = ranks_[rank];
      if (state.finished || state.known == kNever) continue;
      if (found == kNothing || state.known < ranks_[found].known) found = rank;
    }
    return found;
  }

  double furthest() const {
    double found = 0;
    for (const Rank& state : ranks_)
      if (!state.finished) found = std::max(found, state.clock);
    return found;
  }

  uint32_t next_in_row(const Machine& machine) const {
    uint32_t found = kNothing;
    for (const uint32_t rank : machine.ranks) {
      const Rank& state = ranks_[rank];
      if (state.finished) continue;
      if (found == kNothing || state.clock < ranks_[found].clock ||
          (state.clock == ranks_[found].clock && state.turn < ranks_[found].turn))
        found = rank;
    }
    return found;
  }

  const PricedSchedule& schedule_;
  const CostParameters& parameters_;
  Memory memory_;
  Wire wire_;
  std::vector<double> done_at_;   // by step; kNever: not yet
  std::vector<double> there_at_;  // of messages to other nodes: when they can be taken
  std::vector<Counter> counters_;
  std::vector<Rank> ranks_;
  size_t unfinished_ = ranks_.size();
  size_t cores_ = 0;
  uint64_t turns_ = 0;
  uint64_t released_ = 0;  // steps done for which others may have waited
  double last_end_ = 0;
};

}  // namespace

double walk(const PricedSchedule& schedule, const CostParameters& parameters, bool oversubscribed, bool by_time) {
  if (!oversubscribed) return Walk(schedule, parameters, oversubscribed, by_time).on_own_cores();
  double sum = 0;
  for (uint64_t order = 0; order < kOrders; ++order)
    sum += Walk(schedule, parameters, oversubscribed, by_time).on_shared_cores(order);
  return sum / kOrders;
}

}  // namespace hocket::selection
