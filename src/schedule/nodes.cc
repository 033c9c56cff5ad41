// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/nodes.h"

#include <algorithm>
#include <unordered_map>

namespace hocket::schedule {

Nodes::Nodes(std::span<const uint64_t> labels) : node_(labels.size()), place_(labels.size()) {
  std::unordered_map<uint64_t, uint32_t> numbers;
  for (uint32_t rank = 0; rank < labels.size(); ++rank) {
    const auto [known, is_new] = numbers.emplace(labels[rank], count());
    if (is_new) ranks_.emplace_back();
    node_[rank] = known->second;
    place_[rank] = ranks_on(known->second);
    ranks_[known->second].push_back(rank);
  }
  measure();
}

Nodes::Nodes(uint32_t ranks) : Nodes(std::vector<uint64_t>(ranks)) {}

Nodes Nodes::in_blocks(const std::vector<uint32_t>& ranks_on) {
  std::vector<uint64_t> labels;
  for (size_t node = 0; node < ranks_on.size(); ++node) labels.insert(labels.end(), ranks_on[node], node);
  return Nodes(labels);
}

void Nodes::measure() {
  for (const std::vector<uint32_t>& ranks : ranks_) {
    const auto size = static_cast<uint32_t>(ranks.size());
    fewest_ = fewest_ == 0 ? size : std::min(fewest_, size);
    most_ = std::max(most_, size);
    lowest_.push_back(ranks.front());
    in_blocks_ = in_blocks_ && ranks.back() - ranks.front() + 1 == size;
  }
}

}  // namespace hocket::schedule
