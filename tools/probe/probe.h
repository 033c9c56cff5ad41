// SPDX-License-Identifier: BSD-3-Clause
// Knowing the network interface: what the choice between algorithms over nodes rests on, measured over the wire that
// hocket's own messages take.
//
//   bandwidth   pairs of ranks of two nodes, both directions at once, for 1, 2, ... pairs and several sizes: whether
//               several cores together get more out of the interface than one
//   start-up    an irecv-isend all-to-all whose data from node to node stays the same while the ranks a node grow
//   copies      what aggregation costs (a copy into what is sent next) and what distribution (a copy out of what has
//               just been received)
//   latency     half a round trip, and the processor time of a message at either end
//
// The method follows figures 1 to 5 of Kumar, Mamidala, Panda: Scaling Alltoall Collective on Multi-core Systems.
//
// Thread safety: none. Everything is collective over the world's ranks and gives the same on all of them; what goes
// wrong is thrown as std::runtime_error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "hocket/hocket.h"

namespace hocket::probe {

struct Options {
  double budget_s = 30;  // rank 0's counts
  uint64_t max_bytes = 1 << 20;
  uint64_t step = 4;  // from size to size
  uint32_t max_pairs = 64;
};

struct Bandwidth {
  uint32_t pairs = 1;
  uint64_t bytes = 0;   // of a message
  double us = 0;        // for a message each way of each pair, on average
  double mb_per_s = 0;  // of all pairs, both directions together; millions of bytes
  double spread = 1;    // 90th percentile over 10th, of the samples behind the median
};

struct StartUp {
  uint32_t ranks_a_node = 1;
  uint64_t bytes_a_node_pair = 0;  // from each node to each other
  uint64_t message_bytes = 0;
  double us = 0;
  double spread = 1;
};

struct Copies {
  uint32_t ranks = 1;         // of a node, each of which makes copies
  uint64_t bytes = 0;         // of each copy
  double aggregation_us = 0;  // the slowest rank's time for its copies
  double distribution_us = 0;
};

struct Latency {
  uint64_t bytes = 0;
  double us = 0;  // half a round trip
  double spread = 1;
};

// Processor time of a message that no rank has to wait for.
struct Overhead {
  uint64_t bytes = 0;
  double send_us = 0;
  double receive_us = 0;
};

struct Findings {
  uint32_t nodes = 1;
  uint32_t ranks_a_node = 1;  // the fewest that a node has: that many take part
  uint32_t ranks = 1;
  uint32_t machines = 1;        // fewer than nodes: nodes share cores
  bool oversubscribed = false;  // ranks share cores
  std::vector<Bandwidth> bandwidth;
  std::vector<StartUp> start_up;
  std::vector<Copies> copies;
  std::vector<Latency> latency;
  std::vector<Overhead> overhead;
};

// "" or why these ranks can't be measured: they must be on two nodes at least.
std::string why_not(const bench::World& world);
// `machines`: as MpiRanks::machines(). `say`: called on every rank with what is measured next.
Findings measure(const Options& options, bench::World& world, const hocket_wire_t& wire, uint32_t machines,
                 const std::function<void(const std::string&)>& say);

}  // namespace hocket::probe
