// SPDX-License-Identifier: BSD-3-Clause
// Everyone gives to each rank of its node what is for the ranks at its place on other nodes; then ranks at equal places
// exchange. All cores send, and none more than a message to each other node.
//
// With fewer lanes than ranks, a subset of the cores exchanges, and passes on what came.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems, section 5 (send aggregation).
// Steps: those of the parts, one after the other; spread only where there are fewer lanes than ranks on a node.
// Bytes: with p ranks a node and as many lanes, a rank moves size n within its node, and sends (size-p) n; n is one
//   block. Messages between nodes: (nodes-1) a lane and node.
// Cost:  alltoall(p, size/p n) + alltoall(nodes, p n), and copying up to 2 size n into order.
// Restrictions: where nodes are uneven, lanes fewer than ranks, or blocks differ in length, only parts that take blocks
//   of unequal lengths.
#include "algorithms/lane_exchange.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_send_aggregation {

using schedule::Collective;
using schedule::Nodes;

constexpr uint32_t kDegrees[] = {kFlat, 4};  // two lanes are two leaders

constexpr Part kParts[] = {
    {"node", Collective::kAlltoall, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_aggregation(nodes, bytes, lanes, LaneOf::kDestination);
     }},
    {"across", Collective::kAlltoall, Family::kAcross, lane_crossing},
    {"spread", Collective::kAlltoall, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
       return lane_distribution(nodes, bytes, lanes, LaneOf::kDestination);
     }}};

void build(schedule::Builder& builder) {
  exchange_by_lanes(builder, alltoall_send_aggregation, degree_of(builder, kDegrees), LaneOf::kDestination);
}

}  // namespace of_alltoall_send_aggregation
}  // namespace

constinit const Algorithm alltoall_send_aggregation = {
    .collective = schedule::Collective::kAlltoall,
    .name = "send_aggregation",
    .summary = "exchange within nodes by destination's place, then across nodes among equal places",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (send aggregation)",
    .build = of_alltoall_send_aggregation::build,
    .root_relative = false,
    .takes_vectors = true,
    .passes_on = [](const schedule::Nodes& nodes, uint32_t node, uint32_t,
                    uint32_t lanes) { return carriers_pass_on(nodes, node, lanes); },
    .degrees = of_alltoall_send_aggregation::kDegrees,
    .degree_name = "lanes",
    .degree_most = "all",
    .parts = of_alltoall_send_aggregation::kParts,
};

}  // namespace hocket::algorithms
