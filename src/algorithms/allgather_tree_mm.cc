// SPDX-License-Identifier: BSD-3-Clause
// Blocks are collected up a tree to rank 0, a subtree's at once, and the whole row is broadcast down it: the least
// number of messages that there can be.
//
// Reference: Chan, Heimlich, Purkayastha, van de Geijn, Collective communication: theory, practice, and experience
//   (2007), for blocks that are short: gather, then broadcast.
// Steps: 2 ceil(log_k size) phases of up to k-1 messages a rank.
// Bytes: about size/k ceil(log_k size) n up and (size-1) size n down in all, n being one block.
// Cost:  2 (k-1) ceil(log_k size) alpha + (size-1) n beta + (k-1) ceil(log_k size) size n beta.
// Restrictions: blocks of one length.
#include "algorithms/message_tree.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_allgather_tree_mm {

using schedule::Builder;

constexpr uint32_t kDegrees[] = {2, 4, 8};

void build(Builder& builder) {
  const uint32_t rank = builder.rank();
  const uint32_t size = builder.size();
  const uint32_t degree = degree_of(builder, kDegrees);
  const Tree tree = knomial_tree(rank, size, degree);
  const auto blocks_of = [&](uint32_t subtree) {
    return Builder::parts_of(builder.output(), subtree, subtree_end(subtree, size, degree), size);
  };
  builder.begin_stage();
  builder.copy(builder.input(), builder.output_block(rank));
  for (const uint32_t child : tree.children) builder.receive(child, blocks_of(child));
  builder.end_stage();
  if (rank != 0) builder.send(tree.parent, blocks_of(rank));
  broadcast_along(builder, tree);
}

}  // namespace of_allgather_tree_mm
}  // namespace

constinit const Algorithm allgather_tree_mm = {
    .collective = schedule::Collective::kAllgather,
    .name = "tree_mm",
    .summary = "up a k-nomial tree of sends and receives to rank 0, a subtree's blocks at once, and the row down again",
    .reference =
        "Chan, Heimlich, Purkayastha, van de Geijn, Collective Communication: Theory, Practice, and Experience, 2007",
    .build = of_allgather_tree_mm::build,
    .root_relative = false,
    .degrees = of_allgather_tree_mm::kDegrees,
};

}  // namespace hocket::algorithms
