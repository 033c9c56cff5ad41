// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/facts.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Plan;
using schedule::Shape;
using schedule::Step;
using schedule::StepKind;

// Enough for each kind of step to occur; the tests compare with plans of other sizes.
constexpr uint32_t kSizes[] = {2, 5};
// More than any algorithm has slots for, so that it uses all that it may.
constexpr uint32_t kManySegments = 24;
// Parts of compositions are promised as many, whatever fewer a part would do with.
constexpr uint8_t kUsualSlots = 8;

void note(const Plan& plan, Facts& facts) {
  facts.slots = std::max(facts.slots, plan.slots);
  for (const Step& step : plan.steps) {
    facts.uses_slots |= schedule::is_publication(step.kind) || schedule::is_one_sided(step.kind);
    facts.uses_counters |= schedule::is_counter(step.kind);
    facts.shares_counters |= schedule::is_counter(step.kind) && step.peer == schedule::kShared;
    facts.exposes_output |= step.kind == StepKind::kExpose && step.destination.buffer == schedule::Buffer::kOutput;
    facts.multicasts |= schedule::is_by_multicast(step.kind);
  }
}

// In both directions of a grid, and across it.
const schedule::Neighbours& some_neighbours() {
  // Never destroyed: facts may be asked for after static destruction.
  static const auto* const made = new std::shared_ptr<const schedule::Neighbours>(
      schedule::Neighbours::of_stencil({3, 3}, {true, false}, {-1, 0, 1, 0, 0, -1, 0, 1, 1, 1, 1, 1, 0, 0}, 9).take());
  return **made;
}

Facts derive_among_neighbours(const Algorithm& algorithm) {
  Facts facts;
  const schedule::Neighbours& neighbours = some_neighbours();
  for (uint32_t rank = 0; rank < neighbours.ranks(); ++rank) {
    Builder builder(algorithm.collective, {.size = neighbours.ranks(), .rank = rank, .neighbours = &neighbours});
    algorithm.build(builder);
    note(builder.finish(), facts);
  }
  return facts;
}

Facts derive(const Algorithm& algorithm) {
  Facts facts;
  if (is_composition(algorithm)) return facts;
  if (schedule::is_among_neighbors(algorithm.collective)) return derive_among_neighbours(algorithm);
  for (const uint32_t some : kSizes) {
    const uint32_t size = std::clamp(some, algorithm.min_size, algorithm.max_size);
    for (const uint32_t segments : {1u, kManySegments}) {
      if (segments != 1 && !algorithm.segmented) continue;
      for (uint32_t rank = 0; rank < size; ++rank) {
        Builder builder(algorithm.collective, {.size = size, .rank = rank, .segments = segments});
        algorithm.build(builder);
        facts.has_levels |= builder.was_asked_for_nodes();
        note(builder.finish(), facts);
      }
    }
  }
  if (facts.uses_slots) facts.slots = std::max(facts.slots, kUsualSlots);
  return facts;
}

// Made when it is first asked for.
template <const Algorithm& algorithm>
const Facts& kept() {
  static const Facts facts = derive(algorithm);
  return facts;
}

struct Row {
  const Algorithm* algorithm;
  const Facts& (*facts)();
};
constexpr Row kRows[] = {
#define HOCKET_ALGORITHM(object) {&object, kept<object>},
#define HOCKET_NEIGHBOR_ALGORITHM(object) {&object, kept<object>},
#include "algorithms/algorithms.def"
};

}  // namespace

Facts facts_of(const Algorithm& algorithm) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.algorithm == &algorithm; });
  return row != std::end(kRows) ? row->facts() : derive(algorithm);
}

}  // namespace hocket::algorithms
