// SPDX-License-Identifier: BSD-3-Clause
// A prefix within each node, what the nodes before have in all among their last ranks, and both combined: one exchange
// between nodes where a flat prefix has each rank take part in all of them.
//
// Reference: Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI (2006), for clusters of SMP nodes.
// Steps: those of the parts, one after the other, and a combination.
// Bytes: a node sends what a rank of the part across does; within it, those of a scan and of a broadcast.
// Cost:  scan(p, n) + exscan(nodes, n) + broadcast(p, n) + n gamma, with p ranks a node.
// Restrictions: nodes of neighbouring ranks.
#include "algorithms/composition.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_scan_leader {

using schedule::Builder;
using schedule::Collective;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross };

constexpr Part kParts[] = {{"node", Collective::kScan, Family::kNode, node_call},
                           {"across", Collective::kExscan, Family::kAcross, leader_call},
                           {"spread", Collective::kBroadcast, Family::kNode, node_call}};

void build(Builder& builder) {
  const Nodes& nodes = builder.nodes();
  const std::vector<uint32_t>& ranks = nodes.ranks_of(nodes.node_of(builder.rank()));
  const Slice output = builder.output();
  run_part(builder, scan_leader, kNode, {.ranks = ranks, .root = ranks[0], .input = builder.input(), .output = output});
  const std::optional<Slice> before = nodes_before(builder, scan_leader, kAcross, output);
  if (before) builder.combine(*before, output, /*source_left=*/true);
}

}  // namespace of_scan_leader
}  // namespace

constinit const Algorithm scan_leader = {
    .collective = schedule::Collective::kScan,
    .name = "leader",
    .summary = "within nodes, then what the nodes before have among their last ranks",
    .reference = "Sanders, Traeff, Parallel Prefix (Scan) Algorithms for MPI, 2006",
    .build = of_scan_leader::build,
    .root_relative = false,
    .can_keep_order = true,
    .parts = of_scan_leader::kParts,
};

}  // namespace hocket::algorithms
