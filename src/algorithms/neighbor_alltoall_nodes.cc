// SPDX-License-Identifier: BSD-3-Clause
// All that a node's ranks have for another node's is one message. Each other node has a carrier on the node, so that
// several ranks share the work:
//
// 1. Within the node, blocks go to their neighbours there, and those for other nodes to these nodes' carriers.
// 2. Across nodes, the two carriers of each pair of nodes exchange what they have.
// 3. Within the node, carriers hand every block to whom it is for.
//
// Reference: after Bienz, Gropp, Olson, Node aware sparse matrix-vector multiplication (2019); by carriers as
//   send_aggregation and receive_distribution have them.
// Steps: 3, and copies before and after each.
// Bytes: a carrier sends what its node has for the nodes that it is the carrier of; every block for another node goes
//   up to two times within nodes.
// Cost:  a message for each pair of nodes, p alpha + b n beta on the busiest carrier: p nodes, b blocks for them, n is
//   one block.
// Restrictions: ranks on several nodes, several on some of them.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "algorithms/neighbor_blocks.h"
#include "algorithms/neighbor_nodes.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_alltoall_nodes {

using schedule::Builder;
using schedule::Neighbours;
using schedule::Slice;

// A block that goes from node to node.
struct Block {
  uint32_t source;
  uint32_t k;  // among the source's destinations
  uint32_t destination;
};
// By the other node.
using BlocksByNode = std::map<uint32_t, std::vector<Block>>;

class Exchange {
 public:
  explicit Exchange(Builder& builder) : builder_(builder), neighbours_(builder.neighbours()), carriers_(builder) {
    find_blocks();
  }

  void run() {
    gather();
    cross();
    distribute();
  }

 private:
  uint32_t rank() const { return builder_.rank(); }
  bool carries(uint32_t other) const { return carriers_.carries(other); }
  Slice own_block(const Block& block) const { return block_out(builder_, block.k); }
  Slice place_of(const Block& block) const { return block_in(builder_, neighbours_.slots(block.source)[block.k]); }

  void find_blocks();
  ScratchRow make_row(uint32_t blocks) const { return ScratchRow(builder_, blocks); }
  template <typename Predicate>
  static uint32_t count_if(const BlocksByNode& all, const Predicate& is_meant);
  void gather();
  void exchange_within();
  void cross();
  void distribute();

  Builder& builder_;
  const Neighbours& neighbours_;
  Carriers carriers_;
  BlocksByNode outgoing_;  // of this node: by source, in its order
  BlocksByNode incoming_;  // by destination, then by source
  ScratchRow collected_, received_;
};

void Exchange::find_blocks() {
  for (const uint32_t rank : carriers_.own_ranks()) {
    const auto destinations = neighbours_.destinations(rank);
    for (uint32_t k = 0; k < destinations.size(); ++k)
      if (carriers_.is_elsewhere(destinations[k]))
        outgoing_[carriers_.node_of(destinations[k])].push_back({rank, k, destinations[k]});
    const auto sources = neighbours_.sources(rank);
    for (uint32_t slot = 0; slot < sources.size(); ++slot)
      if (carriers_.is_elsewhere(sources[slot]))
        incoming_[carriers_.node_of(sources[slot])].push_back({sources[slot], neighbours_.origins(rank)[slot], rank});
  }
  const auto order = [](const Block& block) { return std::tie(block.destination, block.source, block.k); };
  for (auto& [node, blocks] : incoming_)
    std::sort(blocks.begin(), blocks.end(), [&](const Block& a, const Block& b) { return order(a) < order(b); });
}

template <typename Predicate>
uint32_t Exchange::count_if(const BlocksByNode& all, const Predicate& is_meant) {
  uint32_t count = 0;
  for (const auto& [node, blocks] : all)
    for (const Block& block : blocks) count += is_meant(node, block) ? 1 : 0;
  return count;
}

void Exchange::exchange_within() {
  for (const PeerBlocks& to : by_destination(neighbours_, rank()))
    for (const uint32_t k : to.blocks)
      if (to.peer != rank() && !carriers_.is_elsewhere(to.peer)) builder_.send(to.peer, block_out(builder_, k));
  for (const PeerBlocks& from : by_source(neighbours_, rank()))
    for (const uint32_t k : from.blocks)
      if (from.peer != rank() && !carriers_.is_elsewhere(from.peer)) builder_.receive(from.peer, block_in(builder_, k));
  copy_own_blocks(builder_);
}

// Of each other node, the carrier has the blocks in the order of their sources.
void Exchange::gather() {
  const auto is_handed = [&](uint32_t node, const Block& block) { return block.source == rank() && !carries(node); };
  ScratchRow handed = make_row(count_if(outgoing_, is_handed));
  collected_ = make_row(count_if(outgoing_, [&](uint32_t node, const Block&) { return carries(node); }));
  builder_.begin_stage();
  for (const auto& [node, blocks] : outgoing_) {
    for (const Block& block : blocks) {
      if (carries(node)) {
        const Slice place = collected_.take(1);
        if (block.source == rank()) builder_.copy(own_block(block), place);
      } else if (block.source == rank()) {
        builder_.copy(own_block(block), handed.take(1));
      }
    }
  }
  builder_.end_stage();
  handed.rewind();
  collected_.rewind();
  builder_.begin_stage();
  exchange_within();
  for (const auto& [node, blocks] : outgoing_) {
    for (size_t first = 0, last = 0; first < blocks.size(); first = last) {
      const uint32_t source = blocks[first].source;
      while (last < blocks.size() && blocks[last].source == source) ++last;
      const auto count = static_cast<uint32_t>(last - first);
      if (carries(node)) {
        const Slice place = collected_.take(count);
        if (source != rank()) builder_.receive(source, place);
      } else if (source == rank()) {
        builder_.send(carriers_.carrier_here(node), handed.take(count));
      }
    }
  }
  builder_.end_stage();
}

// What is sent lies in the order of its destinations, so that carriers there can hand it on as it comes.
void Exchange::cross() {
  ScratchRow sent = make_row(collected_.blocks());
  received_ = make_row(count_if(incoming_, [&](uint32_t node, const Block&) { return carries(node); }));
  builder_.begin_stage();
  uint32_t begin = 0;
  for (const auto& [node, blocks] : outgoing_) {
    if (!carries(node)) continue;
    std::vector<uint32_t> order(blocks.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](uint32_t i) { return std::tie(blocks[i].destination, blocks[i].source, blocks[i].k); };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (const uint32_t i : order) builder_.copy(collected_.at(begin + i), sent.take(1));
    begin += static_cast<uint32_t>(blocks.size());
  }
  builder_.end_stage();
  sent.rewind();
  builder_.begin_stage();
  for (const auto& [node, blocks] : outgoing_)
    if (carries(node)) builder_.send(carriers_.carrier_there(node), sent.take(static_cast<uint32_t>(blocks.size())));
  for (const auto& [node, blocks] : incoming_)
    if (carries(node))
      builder_.receive(carriers_.carrier_there(node), received_.take(static_cast<uint32_t>(blocks.size())));
  builder_.end_stage();
  received_.rewind();
}

void Exchange::distribute() {
  const auto is_handed = [&](uint32_t node, const Block& block) {
    return block.destination == rank() && !carries(node);
  };
  ScratchRow handed = make_row(count_if(incoming_, is_handed));
  builder_.begin_stage();
  for (const auto& [node, blocks] : incoming_) {
    for (size_t first = 0, last = 0; first < blocks.size(); first = last) {
      const uint32_t destination = blocks[first].destination;
      while (last < blocks.size() && blocks[last].destination == destination) ++last;
      const auto count = static_cast<uint32_t>(last - first);
      if (carries(node)) {
        const Slice place = received_.take(count);
        if (destination != rank()) builder_.send(destination, place);
      } else if (destination == rank()) {
        builder_.receive(carriers_.carrier_here(node), handed.take(count));
      }
    }
  }
  builder_.end_stage();
  handed.rewind();
  received_.rewind();
  builder_.begin_stage();
  for (const auto& [node, blocks] : incoming_) {
    for (const Block& block : blocks) {
      if (carries(node)) {
        const Slice place = received_.take(1);
        if (block.destination == rank()) builder_.copy(place, place_of(block));
      } else if (block.destination == rank()) {
        builder_.copy(handed.take(1), place_of(block));
      }
    }
  }
  builder_.end_stage();
}

void build(Builder& builder) {
  // Of one node, all goes within it.
  if (builder.shape().nodes != nullptr) return Exchange(builder).run();
  neighbor_alltoall_linear.build(builder);
}

}  // namespace of_neighbor_alltoall_nodes
}  // namespace

constinit const Algorithm neighbor_alltoall_nodes = {
    .collective = schedule::Collective::kNeighborAlltoall,
    .name = "nodes",
    .summary = "all blocks of a node for another are one message, by way of carriers",
    .reference = "after Bienz, Gropp, Olson, Node aware sparse matrix-vector multiplication",
    .build = of_neighbor_alltoall_nodes::build,
    .root_relative = false,
    .why_not_among = why_not_by_node,
};

}  // namespace hocket::algorithms
