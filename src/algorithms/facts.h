// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm's plans show of it. Nothing of this is declared, so nothing can contradict the plans: some small
// plans are made when an algorithm is first asked about, and looked at.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

struct Facts {
  // It publishes in slots, so that a segment must fit into a slot's staging buffer.
  bool uses_slots = false;
  // It signals by counters. What uses neither these nor slots only sends messages, and may run over several nodes.
  bool uses_counters = false;
  // By shared ones, too, of which there is one set for all ranks of a node, so that no part of them can have them.
  bool shares_counters = false;
  // It lets peers write its output before anything is known of them.
  bool exposes_output = false;
  // It asks for nodes() though it isn't made of parts, so that what crosses and what stays within a node can overlap.
  bool has_levels = false;
  // It sends by multicast, so that ranks must reach each other so; one rank a node takes part.
  bool multicasts = false;
  // How many slots it may take, where it uses them: parts of a composition share them.
  uint8_t slots = 0;

  bool operator==(const Facts&) const = default;
};

// Of a composition: of itself, without its parts, which have their own.
Facts facts_of(const Algorithm& algorithm);

// Goes over nodes or, on one, NUMA domains, in more ways than one: no part of a composition, since each of those has
// one level, and no other than its flat relative where there is one.
inline bool heeds_nodes(const Algorithm& algorithm) {
  return is_composition(algorithm) || facts_of(algorithm).has_levels;
}
// Of ranks on several nodes.
inline bool runs_over_nodes(const Algorithm& algorithm) {
  const Facts facts = facts_of(algorithm);
  return !facts.uses_slots && !facts.uses_counters;
}
// By messages between any ranks alike, whatever node they are on.
inline bool is_by_messages(const Algorithm& algorithm) {
  return runs_over_nodes(algorithm) && !heeds_nodes(algorithm) && !facts_of(algorithm).multicasts;
}

}  // namespace hocket::algorithms
