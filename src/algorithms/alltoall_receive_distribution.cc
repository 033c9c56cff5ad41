// SPDX-License-Identifier: BSD-3-Clause
// Ranks at equal places exchange all that they have for each other's nodes; then everyone passes on within its node
// what has come for others. Send aggregation in the reverse order.
//
// With fewer lanes than ranks, a subset of the cores exchanges, for the others too.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems, section 5 (receive
//   distribution).
// Steps: those of the parts, one after the other; node only where there are fewer lanes than ranks on a node.
// Bytes: with p ranks a node and as many lanes, a rank sends (size-p) n, and moves size n within its node; n is one
//   block. Messages between nodes: (nodes-1) a lane and node.
// Cost:  alltoall(nodes, p n) + alltoall(p, size/p n), and copying up to 2 size n into order.
// Restrictions: where nodes are uneven, lanes fewer than ranks, or blocks differ in length, only parts that take blocks
//   of unequal lengths.
#include "algorithms/lane_exchange.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_receive_distribution {

using schedule::Collective;
using schedule::Nodes;

constexpr uint32_t kDegrees[] = {kFlat, 2, 4};

constexpr Part kParts[] = {
    {"node", Collective::kAlltoall, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_aggregation(nodes, bytes, lanes, LaneOf::kSource);
     }},
    {"across", Collective::kAlltoall, Family::kAcross, lane_crossing},
    {"spread", Collective::kAlltoall, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_distribution(nodes, bytes, lanes, LaneOf::kSource);
     }}};

void build(schedule::Builder& builder) {
  exchange_by_lanes(builder, alltoall_receive_distribution, degree_of(builder, kDegrees), LaneOf::kSource);
}

}  // namespace of_alltoall_receive_distribution
}  // namespace

constinit const Algorithm alltoall_receive_distribution = {
    .collective = schedule::Collective::kAlltoall,
    .name = "receive_distribution",
    .summary = "exchange across nodes among equal places, then pass on within nodes",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (receive distribution)",
    .build = of_alltoall_receive_distribution::build,
    .root_relative = false,
    .takes_vectors = true,
    .passes_on = [](const schedule::Nodes& nodes, uint32_t node, uint32_t,
                    uint32_t lanes) { return carriers_pass_on(nodes, node, lanes); },
    .degrees = of_alltoall_receive_distribution::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_alltoall_receive_distribution::kParts,
};

}  // namespace hocket::algorithms
