// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/told_lengths.h"

#include <algorithm>

#include "algorithms/told_lengths.h"

namespace hocket::communicator {

using schedule::BlockVector;
using schedule::Collective;
using schedule::Extents;
using schedule::Nodes;
using schedule::Plan;

void ToldLengths::write(const Plan& plan, const Extents& own) {
  const uint32_t size = plan.shape.size;
  const Nodes& nodes = *plan.shape.nodes;
  own_.clear();
  if (plan.collective == Collective::kAlltoall) {
    own_.insert(own_.end(), own.input->counts, own.input->counts + size);
    own_.insert(own_.end(), own.output->counts, own.output->counts + size);
  } else {
    own_.push_back(own.count);
  }
  told_.resize(own_.size() * nodes.ranks_on(nodes.node_of(plan.shape.rank)));
  std::copy(own_.begin(), own_.end(),
            told_.begin() + static_cast<ptrdiff_t>(nodes.place_of(plan.shape.rank) * own_.size()));
}

void ToldLengths::write(std::span<const uint32_t> destinations, const Extents& own, size_t told) {
  own_.resize(destinations.size());
  std::transform(destinations.begin(), destinations.end(), own_.begin(),
                 [&](uint32_t k) { return own.input->counts[k]; });
  told_.resize(told);
}

void ToldLengths::lay_rows_of_neighbours(const Plan& plan, Numbered incoming, Numbered passed, Extents& extents) {
  const schedule::Neighbours& neighbours = *plan.shape.neighbours;
  const uint64_t first = neighbours.number_out(plan.shape.rank, 0);
  const uint64_t given = neighbours.destinations(plan.shape.rank).size();
  const auto find = [](Numbered blocks, uint64_t block) {
    return std::lower_bound(blocks.begin(), blocks.end(), std::pair{block, 0u});
  };
  rows_.lay(plan, [&](uint64_t block) {
    if (block - first < given) return extents.input->counts[block - first];
    const auto got = find(incoming, block);
    if (got != incoming.end() && got->first == block) return extents.output->counts[got->second];
    return told_[find(passed, block)->second];
  });
  extents.rows = &rows_;
}

void ToldLengths::lay_rows(const Plan& plan, uint64_t longest_short, Extents& extents) {
  const uint32_t size = plan.shape.size;
  const uint32_t rank = plan.shape.rank;
  const Nodes& nodes = *plan.shape.nodes;
  const auto short_or_nothing = [&](uint64_t length) { return length <= longest_short ? length : 0; };
  const auto lay = [&](const auto& length_of) {
    rows_.lay(plan, [&](uint64_t block) { return short_or_nothing(length_of(block)); });
  };
  if (plan.collective == Collective::kAlltoall) {
    // Its source or its destination is on this node. Who isn't told sees those of its own.
    lay([&](uint64_t block) {
      const auto source = static_cast<uint32_t>(block / size);
      const auto destination = static_cast<uint32_t>(block % size);
      const bool is_sent = destination != rank && nodes.together(source, rank);
      const uint64_t row = nodes.place_of(is_sent ? source : destination) * uint64_t{2} * size;
      return told_[row + (is_sent ? destination : size + source)];
    });
  } else if (const BlockVector* seen = extents.output != nullptr ? extents.output : extents.input; seen != nullptr) {
    lay([&](uint64_t block) { return seen->counts[block]; });
  } else {
    lay([&](uint64_t block) { return told_[nodes.place_of(static_cast<uint32_t>(block))]; });
  }
  extents.rows = &rows_;
  extents.longest_short = longest_short;
}

}  // namespace hocket::communicator
