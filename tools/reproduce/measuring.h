// SPDX-License-Identifier: BSD-3-Clause
// Measuring anew what an item's kept files have: sets of bench/results/papers by scripts/papers/measure.py, in labs, as
// root; what needs neither a lab nor an MPI by `hocket bench`, as the item's `anew` says.
//
// Thread safety: one thread; it starts other processes and waits for them.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "reproduce/papers.h"
#include "reproduce/results.h"

namespace hocket::reproduce {

struct MeasureOptions {
  std::string folder;  // into which the new files are written
  double share = 1;    // of the rounds
};

// What a user types to measure the item anew; "" if only its kept page says how.
std::string command_for(const Item& item);

// The name by which results know what `anew` has measured.
std::string anew_name(const Item& item);

// The files that take the place of kept ones, which `results` is told of. What can't be measured is left as it was
// kept; what can and fails is an error. What goes on is printed on stderr.
Result<std::vector<std::string>> measure(const std::vector<const Item*>& items, const MeasureOptions& options,
                                         Results& results);

}  // namespace hocket::reproduce
