// SPDX-License-Identifier: BSD-3-Clause
// The few numbers that choice needs, from what was found: those of the cost model that begin with `wire_`
// (src/simulation/network/cost_parameters.h, docs/tuning.md).
//
// A message passes the sender's processor (overhead), the sender's interface, the way (alpha), the receiver's interface
// and the receiver's processor (overhead). An interface serves `lanes` ranks at a time, each message taking
// gap + KiB * beta, and by `crowding` of that longer for every rank beyond the lanes.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "probe/probe.h"

namespace hocket::probe {

struct Interface {
  double alpha_us = 0;
  double overhead_us = 0;
  double gap_us = 0;
  double beta_us_per_kib = 0;
  uint32_t lanes = 1;
  double crowding = 0;
  bool one_machine = false;  // all nodes are parts of one machine, whose cores their ranks share
  // By which factor the bandwidths that follow from these numbers are off, as a geometric mean.
  double off_by = 1;
};

// `found` has latencies, overheads and bandwidths of at least two sizes.
Interface interface_of(const Findings& found);
// How long a pair takes for a message each way, while that many pairs do the same.
double predicted_us(const Interface& interface, uint32_t pairs, uint64_t bytes);
// "wire_alpha_us=12 wire_overhead_us=..." as on a table's `model` line.
std::string to_words(const Interface& interface);
// What kind of interface it is, in a sentence for people.
std::string judgement(const Interface& interface, const Findings& found);

}  // namespace hocket::probe
