// SPDX-License-Identifier: BSD-3-Clause
// The plans of all ranks as steps with prices, and the walk through them.
//
// Thread safety: none; each walk is its own.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "schedule/plan.h"
#include "selection/cost_model.h"

namespace hocket::selection {

inline constexpr uint32_t kNothing = 0xffffffffu;

// A step without its slices: what it costs, what it waits for, what it lets others do.
struct PricedStep {
  double alphas = 0;  // in times alpha
  double moved_kib = 0;
  double combined_kib = 0;
  double first_kib = 0;           // of a message: the fragment after which its receiver can begin
  double wire_kib = 0;            // of a message to another node
  double memory_kib = 0;          // of what it moves: what comes into buffers as long as the call's
  double unread_kib = 0;          // of what it reads: what an interface wrote, if it did, and nobody has read since
  uint32_t to_rank = kNothing;    // whom it is for
  bool is_multicast = false;      // for all ranks that wait for it
  bool by_wire = false;           // to or from another node
  bool is_awaited = false;        // some step's producer
  uint32_t producer = kNothing;   // the step that must have been done, numbered through all ranks
  uint32_t waits_for = kNothing;  // the counter that must have reached `value`
  uint32_t adds_to = kNothing;    // the counter to which `value` is added
  uint32_t value = 0;
  bool ends_stage = true;
};

struct PricedSchedule {
  std::vector<PricedStep> steps;    // rank by rank
  std::vector<uint32_t> begins;     // of each rank in `steps`, and the end of the last
  std::vector<uint32_t> node_of;    // each rank
  std::vector<uint32_t> cache_of;   // each rank, if that is known
  std::vector<uint32_t> socket_of;  // likewise
  std::vector<uint32_t> users;      // of each node's interface: ranks that send to other nodes, or get from them
  double buffers_kib = 0;           // of the program's memory that the call is about, on all ranks of the fullest node
  uint32_t counters = 0;
  bool can_run = true;

  uint32_t ranks() const { return static_cast<uint32_t>(begins.size()) - 1; }
};

// `plans` in the order of ranks. `finds_misses`: as Closeness has it.
PricedSchedule price(std::span<const schedule::Plan> plans, uint64_t count, uint64_t element_bytes, bool finds_misses);

// Until the last rank is done. `oversubscribed`: the ranks of a node share the parameters' cores. `by_time`: as
// Closeness has it.
double walk(const PricedSchedule& schedule, const CostParameters& parameters, bool oversubscribed, bool by_time);

}  // namespace hocket::selection
