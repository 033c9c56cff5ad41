// SPDX-License-Identifier: BSD-3-Clause
// One leader a node, or some: they get what their node's ranks have to send, exchange among equal leaders, and pass on
// what has come. As few messages between nodes as there can be, and all of them a few cores' work.
//
// Reference: Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems, section 5 (one leader and
//   several).
// Steps: those of the parts, one after the other.
// Bytes: with p ranks a node and k leaders, a leader gets and passes on p size/k n within its node and sends
//   p (size-p)/k n; n is one block. Messages between nodes: k (nodes-1) a node.
// Cost:  alltoall(p, size/k n, to leaders) + alltoall(nodes, p p/k n) + alltoall(p, size n, from leaders), and copying
//   twice p size/k n into order.
// Restrictions: within nodes, and across them where these are uneven or blocks differ in length, only parts that take
//   blocks of unequal lengths.
#include "algorithms/lane_exchange.h"
#include "algorithms/registered.h"
#include "algorithms/shapes.h"

namespace hocket::algorithms {
namespace {
namespace of_alltoall_leader {

using schedule::Collective;
using schedule::Nodes;

constexpr uint32_t kDegrees[] = {1, 2};

constexpr Part kParts[] = {
    {"node", Collective::kAlltoall, Family::kNode,
     [](const Nodes& nodes, uint64_t bytes, uint32_t leaders) {
       return lane_aggregation(nodes, bytes, leaders, LaneOf::kDestination);
     }},
    {"across", Collective::kAlltoall, Family::kAcross, lane_crossing},
    {"spread", Collective::kAlltoall, Family::kNode, [](const Nodes& nodes, uint64_t bytes, uint32_t leaders) {
       return lane_distribution(nodes, bytes, leaders, LaneOf::kDestination);
     }}};

void build(schedule::Builder& builder) {
  exchange_by_lanes(builder, alltoall_leader, degree_of(builder, kDegrees), LaneOf::kDestination);
}

}  // namespace of_alltoall_leader
}  // namespace

constinit const Algorithm alltoall_leader = {
    .collective = schedule::Collective::kAlltoall,
    .name = "leader",
    .summary = "leaders collect what their nodes send, exchange, and pass on what came",
    .reference = "Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems (leader)",
    .build = of_alltoall_leader::build,
    .root_relative = false,
    .takes_vectors = true,
    .passes_on = [](const schedule::Nodes& nodes, uint32_t node, uint32_t,
                    uint32_t lanes) { return carriers_pass_on(nodes, node, lanes); },
    .degrees = of_alltoall_leader::kDegrees,
    .degree_name = "leaders",
    .degree_most = "all",
    .parts = of_alltoall_leader::kParts,
};

}  // namespace hocket::algorithms
