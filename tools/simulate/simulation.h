// SPDX-License-Identifier: BSD-3-Clause
// What `hocket simulate` finds out of one algorithm, and how it says it.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engines/nic/stage_table.h"
#include "selection/choice.h"
#include "simulation/engine/engine.h"

namespace hocket::command {

enum class SimulatedEngine : uint8_t { kMessages, kUdp, kNic };

struct SimulateOptions {
  selection::Query query;
  uint32_t root = 0;
  SimulatedEngine engine = SimulatedEngine::kMessages;
  engines::nic::Mode nic_mode = engines::nic::Mode::kCollective;
  bool nic_asks_all = false;    // barriers by one question to all, and by the algorithm's messages if one is late
  bool nic_on_arrival = false;  // operands are combined as they come, not in the schedule's order
  bool is_floating = false;     // what engines combine
  simulation::Network network;
  simulation::Situation situation;
  uint32_t runs = 1;
  uint32_t calls = 1;  // one after the other, of algorithms that have messages only
  std::string trace;   // a file; empty: none
};

// Of a rank that others have waited for.
struct Awaited {
  uint32_t rank = 0;
  double us = 0;  // that others have waited for it, all together
};

struct Simulated {
  std::string algorithm;
  uint64_t calls = 1;                // that the message is cut into, of which one is simulated
  std::vector<double> ends_us;       // of runs, when the last rank was done; of several calls, each one's share
  std::vector<double> rank_us;       // of the last run, each rank's time in the call
  std::vector<double> rank_mean_us;  // the same of all runs, in the mean
  double waited_us = 0;              // of it, in the mean
  double last_come_us = 0;           // when the last rank came to the call
  uint64_t messages = 0, bytes = 0, events = 0, multicasts = 0, missed = 0, repeated = 0;
  uint64_t packets = 0, asked = 0;  // of NIC engines
  std::vector<Awaited> awaited;     // those that were waited for longest
  uint32_t path_steps = 0, path_messages = 0;
  uint64_t path_bytes = 0;

  double median_us() const;
  // Of all calls, one after the other.
  double whole_us() const { return median_us() * static_cast<double>(calls); }
};

Result<Simulated> simulate_choice(const SimulateOptions& options, const selection::Choice& choice);

}  // namespace hocket::command
