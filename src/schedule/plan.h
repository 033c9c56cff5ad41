// SPDX-License-Identifier: BSD-3-Clause
// One rank's schedule. Plain data: engines run it, the simulator prices it, the verifier proves it.
//
// Thread safety: a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/collective.h"
#include "schedule/neighbours.h"
#include "schedule/nodes.h"
#include "schedule/step.h"

namespace hocket::schedule {

class Builder;

// One of the algorithms that a composition is made of, chosen for what is left to do there: its own number of ranks and
// its own length of message.
struct Part {
  void (*build)(Builder& builder) = nullptr;  // nullptr: the composition's default
  uint32_t degree = 0;
  uint32_t segments = 1;

  bool operator==(const Part&) const = default;
};
inline constexpr int kMaxParts = 3;

// What a plan depends on, and all it depends on. Counts do not appear: `segments` is how many parts the
// caller has decided to cut the message into, 1 or more.
struct Shape {
  uint32_t size = 1;
  uint32_t rank = 0;
  uint32_t root = 0;
  uint32_t segments = 1;
  uint32_t degree = 0;      // of trees, or the number of a given one; 0: the algorithm's default
  bool keep_order = false;  // combine in rank order: the operation does not commute
  bool in_place = false;    // this rank's output lies where its input does, or may. Ranks may differ in it.
  // Of compositions whose root leads its node: the first rank does, and serves the root.
  bool first_ranks_lead = false;
  // Blocks differ in length, and lie anywhere: of a composition, which has to know.
  bool varies = false;
  // Which ranks share memory; outlives the plan. nullptr: all of them.
  const Nodes* nodes = nullptr;
  // Where all share it: which of them share a NUMA domain, as if that were a node. nullptr: not known.
  const Nodes* domains = nullptr;
  // Of a collective among neighbours: who they are; outlives the plan.
  const Neighbours* neighbours = nullptr;
  Part parts[kMaxParts] = {};  // of a composition, in the order in which its algorithm names them

  bool operator==(const Shape&) const = default;
};

// As those of collective.h, also of what is among neighbours: of a rank's own buffers, a block for each of its
// destinations in the input of an alltoall, and one for each of its sources in the output.
inline uint32_t input_blocks(Collective collective, const Shape& shape) {
  if (!is_among_neighbors(collective)) return input_blocks(collective, shape.size);
  const bool is_one = base_of(collective) == Collective::kNeighborAllgather;
  return is_one ? 1 : static_cast<uint32_t>(shape.neighbours->destinations(shape.rank).size());
}
inline uint32_t output_blocks(Collective collective, const Shape& shape) {
  if (!is_among_neighbors(collective)) return output_blocks(collective, shape.size);
  return static_cast<uint32_t>(shape.neighbours->sources(shape.rank).size());
}

// Temporary memory: room for every slice of `numerator/denominator` of the call's count.
struct ScratchArea {
  uint32_t numerator = 0;
  uint32_t denominator = 1;

  // One element more than the quotient, because fractions of odd counts differ by one.
  uint64_t elements(uint64_t count) const { return numerator == 0 ? 0 : count * numerator / denominator + 1; }
  // With blocks of different lengths: never more than all of them.
  uint64_t elements(const Extents& extents) const {
    return extents.varies
               ? std::min(elements(std::max(extents.longest, extents.count)), extents.total + extents.count + 1)
               : elements(extents.count);
  }
};

struct Plan {
  Collective collective = Collective::kBarrier;
  Shape shape;
  std::vector<Step> steps;
  std::vector<ScratchArea> scratch;
  // Of scratch areas, those with blocks side by side where blocks differ in length (Shape::varies), or with a part of
  // them: which they are, by the algorithm's own numbers. nullptr, or beyond the end: the area is none.
  std::vector<std::shared_ptr<const std::vector<uint64_t>>> rows;
  // What is added in total to each of this rank's own counters, and to each shared counter, within one call.
  // Every rank of a schedule states the same shared totals. All adds of a call are waited for within it: own
  // counters by their owner, shared ones by every rank.
  uint32_t own_total[kMaxCounters] = {};
  uint32_t shared_total[kMaxCounters] = {};
  bool uses_slots_or_counters = false;
  uint8_t slots = 0;  // slots 0 .. slots-1 may be published, on any rank
};

}  // namespace hocket::schedule
