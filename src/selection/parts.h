// SPDX-License-Identifier: BSD-3-Clause
// The parts of compositions: each is a call of its own, and its algorithm is chosen like that of any other.
//
// Thread safety: pure functions.
#pragma once

#include <memory>

#include "selection/choice.h"
#include "selection/matching.h"

namespace hocket::selection {

// What is asked of part `index`; ranks == 0: nothing is left to do there. All ranks of the outer call ask the same,
// whichever groups they are in: about the longest message and the largest group there is.
struct PartQuery {
  Query query;
  std::shared_ptr<const schedule::Nodes> nodes;  // that the query names, if it names any
};
PartQuery query_of_part(const Query& query, const Spec& spec, uint32_t index);

// The choice for a part, by the spec where it names one.
struct PartMatch {
  PartQuery asked;
  Match match;  // without an algorithm: the default serves, or nothing is left to do
};
PartMatch match_part(const Query& query, const Table& table, const Spec& spec, uint32_t index);

// Why the parts that the spec names can't serve the call, or "".
std::string why_not_of_parts(const Query& query, const Spec& spec);

}  // namespace hocket::selection
