// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a probe are, and what all its measurements need. Internal to tools/probe.
//
// Thread safety: none.
#pragma once

#include "probe/messages.h"
#include "probe/probe.h"
#include "probe/stopwatch.h"

namespace hocket::probe {

struct Site {
  bench::World& world;
  const hocket_wire_t& wire;
  const Options& options;
  bool oversubscribed;
  Stopwatch stopwatch;

  uint32_t rank() const { return static_cast<uint32_t>(world.rank()); }
  uint32_t node() const { return world.placement().node_of(rank()); }
  uint32_t place() const { return world.placement().place_of(rank()); }
  uint32_t rank_at(uint32_t node, uint32_t place) const { return world.placement().ranks_of(node)[place]; }
  // Among the first ranks of the first two nodes.
  bool is_in_pair(uint32_t pairs) const { return node() < 2 && place() < pairs; }
  uint32_t partner() const { return rank_at(1 - node(), place()); }
  Messages messages() const { return Messages(wire, oversubscribed); }
};

// Sizes and numbers of ranks that are measured.
std::vector<uint64_t> sizes_up_to(uint64_t most, uint64_t step = 4);
std::vector<uint32_t> numbers_up_to(uint32_t most);
// From node to node, of all ranks together.
inline constexpr uint64_t kBytesANodePair[] = {4 << 10, 64 << 10};

Bandwidth measure_bandwidth(Site& site, uint32_t pairs, uint64_t bytes);
StartUp measure_start_up(Site& site, uint32_t ranks_a_node, uint64_t bytes_a_node_pair);
// Empty where ranks of a node can't share memory outside of hocket and the MPI.
std::vector<Copies> measure_copies(Site& site, uint32_t ranks, const std::vector<uint64_t>& sizes);
Latency measure_latency(Site& site, uint64_t bytes);
Overhead measure_overhead(Site& site, uint64_t bytes);

}  // namespace hocket::probe
