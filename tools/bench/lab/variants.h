// SPDX-License-Identifier: BSD-3-Clause
// The ways that `hocket lab bench` compares, by name.
//
// Thread safety: pure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench/lab/bench_lab.h"
#include "bench/lab/driver.h"

namespace hocket::lab_bench {

struct Variant {
  std::string name;       // as it was given: "nic:dissemination"
  std::string path;       // "nic", "nic-chain", "host-udp", ...: known_paths()
  std::string algorithm;  // "dissemination", "gather_broadcast/4", ...
  std::string schedule;   // the same by the name that hocket has for it: "tree_mm/2" of "binomial"
  std::string mpi;        // whose own it is, or hocket's under it; "": none's, and what follows holds
  bool has_hocket = false;
  std::vector<std::string> settings;  // of hocket's ranks: "HOCKET_BROADCAST=multicast"
  Engines engines = Engines::kNone;
  std::function<std::unique_ptr<Driver>(const Place& place)> make_driver;
  std::function<schedule::Plan(uint32_t size, uint32_t rank)> plan_of;
  uint32_t only_size = 0;  // of a tree that was given; 0: any
};

// "nic", "nic-chain:pairwise_exchange", "host-udp:gather_broadcast/4": a path and, behind a colon, an algorithm and its
// degree. Also "binomial", "chain", "flat", and trees by a list of parents: "parents/0.0.0.1".
Result<Variant> parse_variant(const std::string& text, schedule::Collective collective, int ranks_per_node = 1);
// All paths, for help.
std::string known_paths();

// What is compared of exchanges (has_blocks()) unless told: hocket's choice, with engines, and each of its algorithms
// that serves on all these numbers of nodes, under the first MPI; other MPIs' own and hocket's choice under them.
std::vector<std::string> usual_exchanges(schedule::Collective collective, const std::vector<int>& nodes,
                                         int ranks_per_node);

// The rank whose messages take the most steps to reach rank 0 in a reduction; of several, the highest.
uint32_t farthest_of(const std::function<schedule::Plan(uint32_t rank)>& plan_of, uint32_t size);

}  // namespace hocket::lab_bench
