// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/counters.h"

#include <algorithm>

namespace hocket::schedule {

Counters::Counters(World& world) : world_(world) {
  for (const Plan& plan : world.plans) {
    if (plan.uses_slots_or_counters) numbers_ = kMaxCounters;
  }
  counters_.resize(static_cast<size_t>(numbers_) * (world.size() + world.nodes().count()));
}

size_t Counters::index(Where where) const {
  const Step& step = world_.step(where);
  const uint32_t owner = step.peer == kShared ? world_.size() + world_.nodes().node_of(where.rank) : step.peer;
  return static_cast<size_t>(owner) * numbers_ + step.slot;
}

bool Counters::ready(Where where) const { return counters_[index(where)].sum >= world_.step(where).value; }

bool Counters::is_after(const Addition& later, const Addition& earlier) const {
  return Clocks::clock_knows(world_.clocks.saved(later.clock), earlier.where.rank, earlier.stage);
}

std::vector<const Counters::Addition*> Counters::known_additions(const Counter& counter, const Wait& wait) const {
  std::vector<const Addition*> seen;  // possibly: those that don't wait for the wait
  uint64_t sum = 0;
  for (const Addition& addition : counter.additions) {
    if (Clocks::clock_knows(world_.clocks.saved(addition.clock), wait.where.rank, wait.stage)) continue;
    seen.push_back(&addition);
    sum += addition.value;
  }
  if (sum == wait.value) return seen;
  std::vector<const Addition*> known;
  for (const Addition* addition : seen) {
    uint64_t without = sum - addition->value;
    for (const Addition* other : seen) {
      if (other != addition && is_after(*other, *addition)) without -= other->value;
    }
    if (without < wait.value) known.push_back(addition);
  }
  return known;
}

void Counters::wait(Where where) {
  const Step& step = world_.step(where);
  Counter& counter = counters_[index(where)];
  Wait wait{where, world_.stage[where.rank], step.value, 0};
  const std::vector<const Addition*> known = known_additions(counter, wait);
  uint64_t sum = 0;
  uint32_t depth = 0;
  for (const Addition* addition : known) {
    sum += addition->value;
    depth = std::max(depth, addition->depth);
    world_.clocks.acquire(where.rank, world_.clocks.saved(addition->clock));
    world_.link(LinkKind::kSignal, addition->where, where);
  }
  world_.deepen(where, depth);
  if (sum < step.value) {
    world_.complain(where, "is ambiguous: of " + std::to_string(counter.sum) +
                               " that may have been added by then, only " + std::to_string(sum) +
                               " are certain to have been");
  }
  wait.known = known.size();
  counter.waits.push_back(wait);
}

void Counters::add(Where where) {
  const Step& step = world_.step(where);
  Counter& counter = counters_[index(where)];
  const uint32_t depth = world_.deepen(where, 0);
  if (!counter.additions.empty() && counter.additions.back().where.rank != where.rank) counter.several_adders = true;
  counter.additions.push_back({where, world_.stage[where.rank], step.value, depth, world_.clocks.save(where.rank)});
  counter.sum += step.value;
  if (step.peer != where.rank) ++world_.report.signals;
  if (!counter.several_adders) return;  // one rank's additions come in order: the later take nothing from the earlier
  for (Wait& wait : counter.waits) {
    if (world_.clocks.knows(where.rank, wait.where.rank, wait.stage)) continue;
    const size_t known = known_additions(counter, wait).size();
    if (known >= wait.known) continue;
    wait.known = known;
    world_.complain(wait.where, "is ambiguous: " + world_.mention(where) + " may have been counted instead of others");
  }
}

uint32_t Counters::highest_wait(const Counter& counter, uint32_t rank) const {
  uint32_t highest = 0;
  for (const Wait& wait : counter.waits) {
    if (wait.where.rank == rank) highest = std::max(highest, wait.value);
  }
  return highest;
}

void Counters::check_own_totals(uint32_t rank) {
  for (uint32_t number = 0; number < numbers_; ++number) {
    const Counter& counter = counters_[static_cast<size_t>(rank) * numbers_ + number];
    const uint32_t stated = world_.plans[rank].own_total[number];
    const std::string whose = "rank " + std::to_string(rank) + "'s counter " + std::to_string(number);
    if (counter.sum != stated) {
      world_.complain(whose + ": " + std::to_string(counter.sum) + " is added to it, but its total is stated as " +
                      std::to_string(stated));
    }
    const uint32_t waited = highest_wait(counter, rank);
    if (waited != counter.sum) {
      world_.complain(whose + ": " + std::to_string(counter.sum) + " is added to it, but its owner waits for " +
                      std::to_string(waited) + " only");
    }
  }
}

void Counters::check_shared_totals(uint32_t node, uint32_t number) {
  const Counter& counter = counters_[static_cast<size_t>(world_.size() + node) * numbers_ + number];
  const std::string which = "shared counter " + std::to_string(number) +
                            (world_.nodes().count() > 1 ? " of node " + std::to_string(node) : "");
  for (const uint32_t rank : world_.nodes().ranks_of(node)) {
    const uint32_t stated = world_.plans[rank].shared_total[number];
    if (counter.sum != stated) {
      world_.complain(which + ": " + std::to_string(counter.sum) + " is added to it, but rank " + std::to_string(rank) +
                      " states a total of " + std::to_string(stated));
    }
    const uint32_t waited = highest_wait(counter, rank);
    if (waited != counter.sum) {
      world_.complain(which + ": " + std::to_string(counter.sum) + " is added to it, but rank " + std::to_string(rank) +
                      " waits for " + std::to_string(waited) + " only");
    }
  }
}

void Counters::check_totals() {
  for (uint32_t node = 0; node < world_.nodes().count(); ++node) {
    for (uint32_t number = 0; number < numbers_; ++number) check_shared_totals(node, number);
  }
  for (uint32_t rank = 0; rank < world_.size() && numbers_ > 0; ++rank) check_own_totals(rank);
}

}  // namespace hocket::schedule
