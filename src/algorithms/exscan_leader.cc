// SPDX-License-Identifier: BSD-3-Clause
// As scan_leader, without a rank's own operand: that of a node's last rank is added for the nodes behind it.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006), for clusters of SMP nodes.
// Steps: those of the parts, one after the other, and two combinations.
// Bytes: a node sends what a rank of the part across does; within it, those of an exscan and of a broadcast.
// Cost:  exscan(p, n) + exscan(nodes, n) + broadcast(p, n) + 2 n gamma + n beta, with p ranks a node.
// Restrictions: nodes of neighbouring ranks.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_exscan_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross };

constexpr Part kParts[] = {{"node", Collective::kExscan, Family::kNode, node_call},
                           {"across", Collective::kExscan, Family::kAcross, leader_call},
                           {"spread", Collective::kBroadcast, Family::kNode, node_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const std::vector<uint32_t>& ranks = nodes.ranks_of(nodes.node_of(builder.rank()));
  const bool is_alone = ranks.size() == 1;
  const bool is_last = builder.rank() == ranks.back();
  const Slice output = builder.output();
  // The operand may lie in the output, which the first part writes.
  const Slice total = is_last ? scratch_like(builder, builder.input()) : Slice{};
  if (is_last) builder.copy(builder.input(), total);
  if (!is_alone)
    run_part(builder, exscan_leader, kNode,
             {.ranks = ranks, .root = ranks[0], .input = builder.input(), .output = output});
  if (is_last && !is_alone && nodes.count() > 1) builder.combine(output, total, /*source_left=*/true);
  const std::optional<Slice> before = nodes_before(builder, exscan_leader, kAcross, total);
  if (!before) return;
  if (builder.rank() == ranks[0]) return builder.copy(*before, output);
  builder.combine(*before, output, /*source_left=*/true);
}

}  // namespace of_exscan_leader
}  // namespace

constinit const Algorithm exscan_leader = {
    .collective = schedule::Collective::kExscan,
    .name = "leader",
    .summary = "within nodes, then what the nodes before have among their last ranks",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_exscan_leader::build,
    .root_relative = false,
    .can_keep_order = true,
    .parts = of_exscan_leader::kParts,
};

}  // namespace hocket::algorithms
