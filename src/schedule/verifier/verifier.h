// SPDX-License-Identifier: BSD-3-Clause
// Proves the plans of all ranks right, together, for one count.
//
// The steps are carried out symbolically: an element holds not a number but the set of contributions it is made of
// (which ranks' input, which element). What is proved, for every timing that the steps allow:
//   - sends match receives in order and length, and nothing deadlocks even if no send is buffered;
//   - every contribution is used exactly once, in rank order where asked, and the results are where they belong;
//   - nothing undefined is read, nothing outside of a buffer is touched, the caller's input is never written;
//   - no rank reads or writes memory that another rank may be changing: published memory stays as it is until the
//     last reader is known to be done, a slot's next version waits for the users of the one before, what is put does
//     not collide, and the steps of a stage don't depend on each other's order;
//   - every wait on a counter knows which additions it has seen, and all totals are as the plans say;
//   - a barrier's every exit comes after every entry.
// What happens after the call's end (memory of the caller that peers may still read, slots and counters of the next
// call) is the engine's business and needs no steps.
//
// On a rank whose shape says `in_place` the caller's input lies in the output, or of a scatter the output in the input;
// where there is a root, at the root only. Not for collectives that copy the input first.
//
// Two limits. What is known of a step in a stage of several is known once the whole stage is done, which can only
// raise an alarm too many. And counts are tried, not proved: choose them so that fractions come out odd.
//
// Thread safety: verify() has no state; calls are independent. Its cost grows with steps times ranks plus elements
// moved, its memory with ranks squared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schedule/plan.h"

namespace hocket::schedule {

struct VerifyOptions {
  uint64_t count = 1;       // elements in the call
  bool commutative = true;  // if not (or if the plans' shape says keep_order), operands must meet in rank order
  bool idempotent = false;  // a contribution may be used more than once
  size_t max_problems = 12;
  // A vector version of the collective: elements in each rank's block; of an alltoall, [from * size + to], among
  // neighbours in the order of the graph's blocks (Neighbours::number_out). The blocks
  // are laid apart, out of order, except those of a reduce_scatter. Then `count` is not looked at.
  std::span<const uint64_t> lengths = {};
  uint64_t longest_short = ~uint64_t{0};  // as Extents::longest_short
};

struct Report {
  std::vector<std::string> problems;  // a sentence each; empty: proved
  size_t problems_left_out = 0;       // found past max_problems

  // Facts, of use where there is no problem.
  bool synchronizing = false;  // no rank ends before every rank has started
  uint64_t messages = 0;       // sends, gets, puts and combines out of a peer's publication
  uint64_t multicasts = 0;
  uint64_t signals = 0;  // additions to a peer's or a shared counter
  uint64_t elements_moved = 0;
  uint32_t critical_path = 0;  // steps on the longest chain in which each waits for the one before, multicasts coming

  bool is_correct() const { return problems.empty(); }
  std::string text() const;  // the problems, one a line
};

// `plans` in the order of ranks, all of one shape.
Report verify(std::span<const Plan> plans, const VerifyOptions& options);

}  // namespace hocket::schedule
