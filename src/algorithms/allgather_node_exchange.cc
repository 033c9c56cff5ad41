// SPDX-License-Identifier: BSD-3-Clause
// Each block goes once to every other node, to the rank at its sender's place there, which passes it on to its
// neighbours while the next one comes. Blocks travel by themselves, so that they may have any lengths: the one that
// takes note of nodes for allgatherv, too.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation), for
//   allgather.
// Steps: as many as there are nodes, each of one message to another node and p-1 within (p ranks a node).
// Bytes: a node sends and receives p (nodes-1) n; within it, each rank gets size-1 blocks, p-1 of p from its
//   neighbours; n is one block.
// Cost:  nodes (alpha + n beta) across, overlapping with size (alpha + n beta) within.
// Restrictions: none.
#include <vector>

#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_node_exchange {

using schedule::Builder;
using schedule::Nodes;

class NodeExchange {
 public:
  explicit NodeExchange(Builder& builder)
      : builder_(builder),
        nodes_(builder.nodes()),
        rank_(builder.rank()),
        node_(nodes_.node_of(rank_)),
        neighbours_(nodes_.ranks_of(node_)) {}

  void build() {
    if (!is_empty(rank_)) builder_.copy(builder_.input(), builder_.output_block(rank_));
    for (uint32_t step = 0; step < nodes_.count(); ++step) {
      builder_.begin_stage();
      if (step + 1 < nodes_.count()) exchange_across(step + 1);
      pass_on(step);
      builder_.end_stage();
    }
  }

 private:
  bool is_empty(uint32_t block) const { return builder_.output_block(block).is_empty(); }
  uint32_t node_before(uint32_t distance) const { return (node_ + nodes_.count() - distance) % nodes_.count(); }
  // Whose blocks come from the node that is `step` before this one by way of `neighbour`; in step 0 it has its own.
  std::vector<uint32_t> blocks_of(uint32_t neighbour, uint32_t step) const {
    const std::vector<uint32_t>& senders = nodes_.ranks_of(node_before(step));
    std::vector<uint32_t> blocks;
    for (size_t place = nodes_.place_of(neighbour); place < senders.size(); place += neighbours_.size()) {
      if (!is_empty(senders[place])) blocks.push_back(senders[place]);
    }
    return blocks;
  }

  void exchange_across(uint32_t step) {
    const std::vector<uint32_t>& there = nodes_.ranks_of((node_ + step) % nodes_.count());
    if (!is_empty(rank_)) {
      builder_.send(there[nodes_.place_of(rank_) % there.size()], builder_.output_block(rank_));
    }
    for (const uint32_t block : blocks_of(rank_, step)) builder_.receive(block, builder_.output_block(block));
  }

  // What came in this step goes to all neighbours, and theirs comes. Each begins with the next, so that no rank is
  // everybody's first.
  void pass_on(uint32_t step) {
    const size_t count = neighbours_.size();
    const size_t place = nodes_.place_of(rank_);
    const std::vector<uint32_t> own = blocks_of(rank_, step);
    for (size_t i = 1; i < count; ++i) {
      for (const uint32_t block : own) {
        builder_.send(neighbours_[(place + i) % count], builder_.output_block(block));
      }
    }
    for (size_t i = 1; i < count; ++i) {
      const uint32_t from = neighbours_[(place + count - i) % count];
      for (const uint32_t block : blocks_of(from, step)) builder_.receive(from, builder_.output_block(block));
    }
  }

  Builder& builder_;
  const Nodes& nodes_;
  uint32_t rank_;
  uint32_t node_;
  const std::vector<uint32_t>& neighbours_;
};

void build(Builder& builder) { NodeExchange(builder).build(); }

}  // namespace of_allgather_node_exchange
}  // namespace

constinit const Algorithm allgather_node_exchange = {
    .collective = schedule::Collective::kAllgather,
    .name = "node_exchange",
    .summary = "each block once to every other node, where it is passed on while the next comes",
    .reference = "after Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (all cores)",
    .build = of_allgather_node_exchange::build,
    .root_relative = false,
    .takes_vectors = true,
    .takes_unequal_blocks = true,
};

}  // namespace hocket::algorithms
