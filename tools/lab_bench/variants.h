// SPDX-License-Identifier: BSD-3-Clause
// The barriers that `hocket lab bench` compares, by name.
//
// Thread safety: pure.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "lab_bench/barrier_driver.h"
#include "lab_bench/bench_lab.h"

namespace hocket::lab_bench {

struct Variant {
  std::string name;       // as it was given: "nic:dissemination"
  std::string path;       // "nic", "nic-chain", "host-udp", ...: known_paths()
  std::string algorithm;  // "dissemination", "gather_broadcast/4", ...
  std::string mpi;        // whose own it is; "": none's, and what follows holds
  Engines engines = Engines::kNone;
  std::function<std::unique_ptr<BarrierDriver>(const Place& place)> make_driver;
  std::function<schedule::Plan(uint32_t size, uint32_t rank)> plan_of;
};

// "nic", "nic-chain:pairwise_exchange", "host-udp:gather_broadcast/4": a path and, behind a colon, an algorithm
// (dissemination, if there is none) and its degree.
Result<Variant> parse_variant(const std::string& text);
// All paths, for help.
std::string known_paths();

}  // namespace hocket::lab_bench
