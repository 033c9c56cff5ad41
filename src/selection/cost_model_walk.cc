// SPDX-License-Identifier: BSD-3-Clause
// The walk: when each step of each rank begins and ends.
#include "selection/cost_model_walk.h"

#include <algorithm>

namespace hocket::selection {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// So many orders in which the ranks may come to share the cores are averaged.
constexpr uint64_t kOrders = 3;

class Walk {
 public:
  Walk(const PricedSchedule& schedule, const CostParameters& parameters)
      : schedule_(schedule),
        parameters_(parameters),
        done_at_(schedule.steps.size(), kNever),
        counters_(schedule.counters),
        ranks_(schedule.ranks()) {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].begin = schedule.begins[rank];
      find_stage(rank);
    }
  }

  double on_own_cores() {
    // What is known to come is waited for only when nobody can do anything else: what is not known yet may come first.
    while (unfinished_ > 0) {
      bool moved = false;
      for (uint32_t rank = 0; rank < ranks_.size(); ++rank) moved |= advance(rank);
      if (moved) continue;
      const uint32_t next = earliest();
      if (next == kNothing) return kNever;
      ranks_[next].clock = std::max(ranks_[next].clock, ranks_[next].known);
    }
    return last_end_;
  }

  // A rank that must wait goes to the end of the row, as by a yield, and the next one gets the core. `order` says how
  // the row stands in the beginning, which no schedule may count on.
  double on_shared_cores(uint32_t cores, uint64_t order) {
    shuffle(order);
    std::vector<double> free_at(cores, 0);
    size_t in_vain = 0;
    size_t rounds_in_vain = 0;
    while (unfinished_ > 0) {
      const auto core = std::min_element(free_at.begin(), free_at.end());
      const uint32_t rank = next_in_row();
      Rank& running = ranks_[rank];
      running.clock = std::max(running.clock, *core);
      running.turn = ++turns_;
      const bool moved = advance(rank);
      running.clock += parameters_.switch_us;
      *core = running.clock;
      in_vain = moved ? 0 : in_vain + 1;
      if (moved) rounds_in_vain = 0;
      if (in_vain <= unfinished_ + cores) continue;
      // All have looked: until what comes next, they only go round. What that is, only a rank may know that has yet to
      // reach the time of the others.
      const uint32_t next = earliest();
      const double then = next != kNothing ? ranks_[next].known : furthest();
      if (next == kNothing && ++rounds_in_vain > ranks_.size()) return kNever;  // a deadlock
      for (double& time : free_at) time = std::max(time, then);
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
  struct Counter {
    std::vector<std::pair<double, uint32_t>> additions;  // by time
    uint64_t sum = 0;
  };

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
        state.clock = run(step, state.clock);
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
    if (step.producer != kNothing) from = is_done(step.producer) ? begun_at(step) : kNever;
    if (step.waits_for != kNothing) from = std::max(from, reached_at(counters_[step.waits_for], step.value));
    return from;
  }

  double begun_at(const PricedStep& step) const {
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

  // When it ends.
  double run(uint32_t number, double begin) {
    const PricedStep& step = schedule_.steps[number];
    double end = begin + step.alphas * parameters_.alpha_us + step.moved_kib * parameters_.beta_us_per_kib +
                 step.combined_kib * parameters_.gamma_us_per_kib;
    if (step.producer != kNothing && step.first_kib > 0)
      end = std::max(end, done_at_[step.producer] + step.first_kib * parameters_.beta_us_per_kib);
    done_at_[number] = end;
    if (step.adds_to != kNothing) {
      Counter& counter = counters_[step.adds_to];
      counter.sum += step.value;
      const std::pair<double, uint32_t> addition(end, step.value);
      counter.additions.insert(std::upper_bound(counter.additions.begin(), counter.additions.end(), addition),
                               addition);
    }
    return end;
  }

  // The rank for which something comes first, or kNothing: nobody knows of anything.
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

  uint32_t next_in_row() const {
    uint32_t found = kNothing;
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
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
  std::vector<double> done_at_;  // by step; kNever: not yet
  std::vector<Counter> counters_;
  std::vector<Rank> ranks_;
  size_t unfinished_ = ranks_.size();
  uint64_t turns_ = 0;
  double last_end_ = 0;
};

}  // namespace

double walk(const PricedSchedule& schedule, const CostParameters& parameters, uint32_t cores) {
  if (cores == 0) return Walk(schedule, parameters).on_own_cores();
  double sum = 0;
  for (uint64_t order = 0; order < kOrders; ++order) sum += Walk(schedule, parameters).on_shared_cores(cores, order);
  return sum / kOrders;
}

}  // namespace hocket::selection
