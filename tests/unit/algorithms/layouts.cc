// SPDX-License-Identifier: BSD-3-Clause
#include "layouts.h"

#include <algorithm>
#include <random>

#include "algorithms/composition.h"

namespace hocket::algorithms {

schedule::Nodes Layout::nodes() const {
  std::vector<uint64_t> labels;
  for (uint32_t node = 0; node < ranks_on.size(); ++node) labels.insert(labels.end(), ranks_on[node], node);
  if (order == Order::kRandom) {
    std::mt19937 random(seed);
    std::shuffle(labels.begin(), labels.end(), random);
  } else if (order == Order::kCyclic) {
    std::vector<uint32_t> left = ranks_on;
    const size_t ranks = labels.size();
    labels.clear();
    while (labels.size() < ranks) {
      for (uint32_t node = 0; node < left.size(); ++node) {
        if (left[node] == 0) continue;
        --left[node];
        labels.push_back(node);
      }
    }
  }
  return schedule::Nodes(labels);
}

std::string text(const Layout& layout) {
  std::string text = "nodes ";
  for (size_t i = 0; i < layout.ranks_on.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(layout.ranks_on[i]);
  if (layout.order == Order::kCyclic) text += " cyclic";
  if (layout.order == Order::kRandom) text += " random:" + std::to_string(layout.seed);
  return text;
}

std::vector<const Algorithm*> algorithms_for_part(const Algorithm& composition, uint32_t index,
                                                  const schedule::Nodes& nodes, uint32_t degree, bool keep_order,
                                                  bool varies) {
  const Part& part = composition.parts[index];
  const PartCall call = call_of_part(composition, index, nodes, 1, degree);
  const bool differ = varies && schedule::has_block_a_rank(part.collective);
  const PartLimits limits = {.unequal_blocks = call.unequal_blocks || differ,
                             .lengths_are_apart = varies && composition.passes_on != nullptr};
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : all()) {
    if (!why_no_part(composition, index, *algorithm, limits).empty()) continue;
    if (keep_order && schedule::combines(part.collective) && !algorithm->can_keep_order) continue;
    found.push_back(algorithm);
  }
  return found;
}

std::string text_of_parts(const Algorithm& composition, const schedule::Shape& shape) {
  std::string text;
  for (size_t i = 0; i < composition.parts.size(); ++i) {
    std::string_view name = "the default";
    for (const Algorithm* algorithm : all())
      if (algorithm->build == shape.parts[i].build) name = algorithm->name;
    text += ", " + std::string(composition.parts[i].name) + "=" + std::string(name);
    if (shape.parts[i].degree != 0) text += "/" + std::to_string(shape.parts[i].degree);
    if (shape.parts[i].segments != 1) text += " in " + std::to_string(shape.parts[i].segments) + " segments";
  }
  return text;
}

}  // namespace hocket::algorithms
