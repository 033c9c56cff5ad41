// SPDX-License-Identifier: BSD-3-Clause
// What compositions are written with: which rank carries which lane, and running a part of another algorithm in a
// group.
//
// A lane is a share of the traffic between nodes that one rank of each node carries. With as many lanes as a node has
// ranks all of them exchange with other nodes, with one lane a leader does. Nodes may hold unequal numbers of ranks: a
// rank of a small node then carries several lanes.
//
// Thread safety: Lanes is immutable; run_part() belongs to its builder's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

class Lanes {
 public:
  // `wanted`: from 1; never more than the largest node has ranks.
  Lanes(const schedule::Nodes& nodes, uint32_t wanted);

  const schedule::Nodes& nodes() const { return nodes_; }
  uint32_t count() const { return count_; }

  // --- by place: lane l is carried by the rank at place l mod the node's ranks -----------------------------------
  uint32_t lane_of_place(uint32_t place) const { return place % count_; }
  uint32_t carrier(uint32_t node, uint32_t lane) const { return nodes_.ranks_of(node)[lane % nodes_.ranks_on(node)]; }
  // Ascending; none on ranks that carry nothing.
  std::vector<uint32_t> lanes_of(uint32_t rank) const;
  // Of the node, the ranks at places that belong to a lane.
  std::vector<uint32_t> members(uint32_t node, uint32_t lane) const;
  // One a node, in the order of nodes.
  std::vector<uint32_t> carriers(uint32_t lane) const;

  // --- by runs: neighbouring lanes are carried by one rank, so that its share of a message is in one piece --------
  uint32_t runner(uint32_t node, uint32_t lane) const;
  // The ranks at places 0, 1, ... of the node carry lanes [cuts[0], cuts[1]), [cuts[1], cuts[2]), ...
  std::vector<uint32_t> run_cuts(uint32_t node) const;
  std::vector<uint32_t> runners(uint32_t lane) const;

 private:
  const schedule::Nodes& nodes_;
  uint32_t count_;
};

// The group and the buffers of a part. All members say the same, but for what they have in their buffers; a buffer that
// a rank doesn't have must still be as long as the others', so that slices of it can be spoken of (like_row()).
struct PartGroup {
  std::vector<uint32_t> ranks;
  // Instead of `ranks`, as in Builder::GroupOptions. Not for rooted parts that combine or broadcast.
  std::span<const uint32_t> shared_ranks = {};
  uint32_t root = 0;  // one of them
  schedule::Slice input = {};
  schedule::Slice output = {};
  // As in Builder::GroupOptions. Empty: blocks are of one length.
  std::vector<uint32_t> input_cuts = {};
  std::vector<uint32_t> output_cuts = {};
};

// Writes what this rank does in part `index` of the composition: by the algorithm that the shape names, or by one that
// works everywhere. Rooted parts that combine or broadcast count ranks from the root.
void run_part(schedule::Builder& builder, const Algorithm& composition, uint32_t index, PartGroup group);

// Of the part that goes between nodes; parts.size(): there is none.
size_t across_part(const Algorithm& composition);
// Why `part` can't be part `index` of the composition, or "".
std::string why_no_part(const Algorithm& composition, uint32_t index, const Algorithm& part, PartLimits limits);

// A number of blocks of the call's count somewhere that is never looked at.
schedule::Slice like_row(uint32_t blocks);
// The same part of the message in a scratch area of its own.
schedule::Slice scratch_like(schedule::Builder& builder, const schedule::Slice& part);

// The rank that has what the root has, or is to get: the root, or for it the first rank of its node
// (Shape::first_ranks_lead).
uint32_t leader_for_root(const schedule::Builder& builder);

// Where a rooted reduction comes together: there or, where operands must meet in rank order and so no group may be
// turned to its root, at rank 0, which sends the result on.
struct Collector {
  uint32_t rank = 0;
  schedule::Slice result;  // there
};
Collector collector_of(schedule::Builder& builder);
void send_on(schedule::Builder& builder, const Collector& collector);
// The rank that stands for a node: the collector for its own, else the first.
uint32_t leader_of(const schedule::Nodes& nodes, uint32_t node, uint32_t collector);
std::vector<uint32_t> leaders_of(const schedule::Nodes& nodes, uint32_t collector);
// As Algorithm::passes_on: the leader alone.
std::vector<uint32_t> leader_passes_on(const schedule::Nodes& nodes, uint32_t node, uint32_t root, uint32_t degree);

// The end of a prefix by leaders, whose parts `across` and the one behind it are an exscan among the last ranks of all
// nodes and a broadcast within each. `total`: on a last rank, what the node has in all. Gives what the nodes before
// this one have, or nothing on the first node.
std::optional<schedule::Slice> nodes_before(schedule::Builder& builder, const Algorithm& composition, uint32_t across,
                                            const schedule::Slice& total);

// All ranks in the order of nodes and places, and where each node's begin: how leaders have blocks.
std::vector<uint32_t> ranks_by_node(const schedule::Nodes& nodes);
std::vector<uint32_t> node_cuts(const schedule::Nodes& nodes);

// What a rank has of a message of `bytes` that is cut into lanes by runs, on the node where it has most.
PartCall run_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes);
// The same where what ranks have are blocks: shares of a message differ by the rounding at least.
PartCall run_blocks_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes);
// A lane's share of it, on all nodes.
PartCall lane_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes);
// Of all ranks of a node, with what the composition has; of leaders; and of leaders with a block for each rank of
// theirs.
PartCall node_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t degree);
PartCall leader_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t degree);
PartCall leader_blocks_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t degree);

}  // namespace hocket::algorithms
