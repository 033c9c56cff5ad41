// SPDX-License-Identifier: BSD-3-Clause
// Reference: Buntinas, Panda, NIC-Based Reduction in Myrinet Clusters: Is It Beneficial?, III.C: the host gives parent
//   and children.
#include "algorithms/given_tree.h"

#include <charconv>
#include <vector>

#include "base/assertion.h"
#include "base/kept_lists.h"

namespace hocket::algorithms {
std::string flaw_of_parents(std::span<const uint32_t> parents) {
  const auto size = static_cast<uint32_t>(parents.size());
  if (size == 0 || parents[0] != 0) return "the first, rank 0, is the root and its own parent";
  for (uint32_t rank = 1; rank < size; ++rank)
    if (parents[rank] >= size)
      return "rank " + std::to_string(rank) + " has parent " + std::to_string(parents[rank]) + ", but there are " +
             std::to_string(size) + " ranks";
  for (uint32_t rank = 1; rank < size; ++rank) {
    uint32_t above = rank;
    for (uint32_t steps = 0; above != 0 && steps < size; ++steps) above = parents[above];
    if (above != 0) return "rank " + std::to_string(rank) + " has no way up to rank 0";
  }
  return "";
}

Result<uint32_t> parse_given_tree(std::string_view text) {
  const auto invalid = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, "`" + std::string(text) + "` is no tree: " + why);
  };
  std::vector<uint32_t> parents;
  for (const char* next = text.data(); true; ++next) {
    const char* end = text.data() + text.size();
    uint32_t parent = 0;
    const auto [stopped, error] = std::from_chars(next, end, parent);
    if (error != std::errc() || (stopped != end && *stopped != '.'))
      return invalid("it is a list of each rank's parent, such as 0.0.1.1");
    parents.push_back(parent);
    next = stopped;
    if (next == end) break;
  }
  if (const std::string flaw = flaw_of_parents(parents); !flaw.empty()) return invalid(flaw);
  return number_of_list(std::move(parents));
}

std::string given_tree_to_text(uint32_t number) {
  std::string text;
  for (const uint32_t parent : kept_list(number)) text += (text.empty() ? "" : ".") + std::to_string(parent);
  return text;
}

uint32_t ranks_of_given_tree(uint32_t number) { return static_cast<uint32_t>(kept_list(number).size()); }

Tree given_tree(const schedule::Builder& builder) {
  const uint32_t number = builder.shape().degree;
  if (number == 0) return knomial_tree(builder.rank(), builder.size(), kFlat);
  const std::vector<uint32_t>& parents = kept_list(number);
  HOCKET_ASSERT(parents.size() == builder.size(), "a given tree has as many ranks as its group");
  Tree tree;
  tree.parent = parents[builder.rank()];
  for (uint32_t rank = 1; rank < builder.size(); ++rank)
    if (parents[rank] == builder.rank()) tree.children.push_back(rank);
  return tree;
}

}  // namespace hocket::algorithms
