// SPDX-License-Identifier: BSD-3-Clause
// The call sites of many ranks in one table of bounded size: those that took most time, by the file of the program or
// library that they are in and their place in it, which is the same for all ranks, wherever that was loaded.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/report/call_sites.h"

namespace hocket::interposer {

// Travels as bytes between ranks of one job on machines of one kind.
struct PlacedSite {
  char object[192] = {};   // the file's path, cut where it is longer; "" of calls whose place isn't known
  char function[64] = {};  // as the file's table of symbols has it; "": it doesn't say
  uint64_t offset = 0;     // in the file, as its debug information counts: of the call, not of what comes behind it
  uint64_t calls = 0;
  uint64_t us = 0;  // nanoseconds of a hundred thousand ranks overflow in two days
  uint64_t waited_us = 0;
  Collective collective = Collective::kBarrier;
};

struct SiteTable {
  static constexpr size_t kMost = 24;

  // Longest first.
  std::span<const PlacedSite> sites() const { return {places, used}; }
  // All others together: calls and times only.
  PlacedSite others;
  PlacedSite places[kMost];
  uint64_t used = 0;
};

// Calls and times.
void add_numbers(PlacedSite& to, const PlacedSite& more);

// Of this process.
SiteTable place_sites(std::span<const CallSite> sites);
// Adds `more` to `table`.
void merge(SiteTable& table, const SiteTable& more);

}  // namespace hocket::interposer
