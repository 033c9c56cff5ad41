// SPDX-License-Identifier: BSD-3-Clause
// Trees that a user gives, as lists of parents: of any shape, where other algorithms have families of trees. A list is
// kept under a number, which is a shape's degree.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/shapes.h"
#include "base/status.h"

namespace hocket::algorithms {

// "", or why it is no tree of the ranks 0 .. parents.size()-1 with root 0: parents[0] is 0, and a walk that goes from
// parent to parent comes to 0.
std::string flaw_of_parents(std::span<const uint32_t> parents);

// "0.0.1.1": rank 0 is the root, 1 its child, 2 and 3 are 1's. Gives the list's number, from 1, which equal lists have
// in common. Lists are kept until the process ends.
Result<uint32_t> parse_given_tree(std::string_view text);
std::string given_tree_to_text(uint32_t number);
uint32_t ranks_of_given_tree(uint32_t number);

// The place of builder.rank() in the tree whose number is its shape's degree; 0: in the one where all others are
// children of rank 0. Children come in the order of their numbers, so for operations that commute.
Tree given_tree(const schedule::Builder& builder);

}  // namespace hocket::algorithms
