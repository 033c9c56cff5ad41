// SPDX-License-Identifier: BSD-3-Clause
// A block goes from node to node once, however many neighbours its rank has there, and all that a node has for another
// is one message. Each other node has a carrier on the node, so that several ranks share the work:
//
// 1. Within the node, blocks go to their neighbours there, and to the carriers of the nodes where others are.
// 2. Across nodes, the two carriers of each pair of nodes exchange what they have.
// 3. Within the node, carriers hand every block to all who are its rank's neighbours.
//
// Reference: after Bienz, Gropp, Olson, Node aware sparse matrix-vector multiplication (2019); by carriers as
//   send_aggregation and receive_distribution have them.
// Steps: 3, and a copy after them.
// Bytes: a carrier sends, for each node that it is the carrier of, a block of each rank that has neighbours there.
// Cost:  a message for each pair of nodes, p alpha + b n beta on the busiest carrier: p nodes, b blocks for them, n is
//   one block.
// Restrictions: ranks on several nodes, several on some of them.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "algorithms/neighbor_blocks.h"
#include "algorithms/neighbor_nodes.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {
namespace of_neighbor_allgather_nodes {

using schedule::Builder;
using schedule::Neighbours;
using schedule::Slice;

// By the other node: the ranks whose blocks pass between it and this one.
using RanksByNode = std::map<uint32_t, std::set<uint32_t>>;

class Exchange {
 public:
  explicit Exchange(Builder& builder) : builder_(builder), carriers_(builder) { find_blocks(); }

  void run() {
    gather();
    cross();
    distribute();
  }

 private:
  uint32_t rank() const { return builder_.rank(); }
  const Neighbours& neighbours() const { return builder_.neighbours(); }

  void find_blocks();
  ScratchRow make_row(const RanksByNode& all) const;
  void gather();
  void cross();
  void distribute();

  Builder& builder_;
  Carriers carriers_;
  RanksByNode outgoing_;
  RanksByNode incoming_;
  std::map<uint32_t, std::set<uint32_t>> readers_;  // of a rank elsewhere: those here whose neighbour it is
  ScratchRow collected_, received_;
};

void Exchange::find_blocks() {
  for (const uint32_t rank : carriers_.own_ranks()) {
    for (const uint32_t to : neighbours().destinations(rank))
      if (carriers_.is_elsewhere(to)) outgoing_[carriers_.node_of(to)].insert(rank);
    for (const uint32_t from : neighbours().sources(rank)) {
      if (carriers_.is_elsewhere(from)) {
        incoming_[carriers_.node_of(from)].insert(from);
        readers_[from].insert(rank);
      }
    }
  }
}

// Of what this rank carries.
ScratchRow Exchange::make_row(const RanksByNode& all) const {
  uint32_t blocks = 0;
  for (const auto& [node, ranks] : all) blocks += carriers_.carries(node) ? static_cast<uint32_t>(ranks.size()) : 0;
  return ScratchRow(builder_, blocks);
}

void Exchange::gather() {
  collected_ = make_row(outgoing_);
  builder_.begin_stage();
  for (const PeerBlocks& to : by_destination(neighbours(), rank()))
    if (to.peer != rank() && !carriers_.is_elsewhere(to.peer)) builder_.send(to.peer, builder_.input());
  for (const PeerBlocks& from : by_source(neighbours(), rank())) {
    const Slice first = block_in(builder_, from.blocks.front());
    if (from.peer == rank()) {
      builder_.copy(builder_.input(), first);
    } else if (!carriers_.is_elsewhere(from.peer)) {
      builder_.receive(from.peer, first);
    }
  }
  for (const auto& [node, ranks] : outgoing_) {
    for (const uint32_t source : ranks) {
      if (carriers_.carries(node)) {
        const Slice place = collected_.take(1);
        if (source == rank()) {
          builder_.copy(builder_.input(), place);
        } else {
          builder_.receive(source, place);
        }
      } else if (source == rank()) {
        builder_.send(carriers_.carrier_here(node), builder_.input());
      }
    }
  }
  builder_.end_stage();
}

void Exchange::cross() {
  collected_.rewind();
  received_ = make_row(incoming_);
  builder_.begin_stage();
  for (const auto& [node, ranks] : outgoing_)
    if (carriers_.carries(node))
      builder_.send(carriers_.carrier_there(node), collected_.take(static_cast<uint32_t>(ranks.size())));
  for (const auto& [node, ranks] : incoming_)
    if (carriers_.carries(node))
      builder_.receive(carriers_.carrier_there(node), received_.take(static_cast<uint32_t>(ranks.size())));
  builder_.end_stage();
}

void Exchange::distribute() {
  received_.rewind();
  const std::vector<PeerBlocks> wanted = by_source(neighbours(), rank());
  const auto first_of = [&](uint32_t source) -> const PeerBlocks* {
    const auto found =
        std::find_if(wanted.begin(), wanted.end(), [&](const PeerBlocks& one) { return one.peer == source; });
    return found == wanted.end() ? nullptr : &*found;
  };
  builder_.begin_stage();
  for (const auto& [node, ranks] : incoming_) {
    for (const uint32_t source : ranks) {
      const PeerBlocks* own = first_of(source);
      if (!carriers_.carries(node)) {
        if (own != nullptr) builder_.receive(carriers_.carrier_here(node), block_in(builder_, own->blocks.front()));
        continue;
      }
      const Slice place = received_.take(1);
      if (own != nullptr) builder_.copy(place, block_in(builder_, own->blocks.front()));
      for (const uint32_t to : readers_[source])
        if (to != rank()) builder_.send(to, place);
    }
  }
  builder_.end_stage();
  builder_.begin_stage();
  for (const PeerBlocks& from : wanted)
    for (size_t i = 1; i < from.blocks.size(); ++i)
      builder_.copy(block_in(builder_, from.blocks.front()), block_in(builder_, from.blocks[i]));
  builder_.end_stage();
}

void build(Builder& builder) {
  // Of one node, all goes within it.
  if (builder.shape().nodes != nullptr) return Exchange(builder).run();
  neighbor_allgather_linear.build(builder);
}

}  // namespace of_neighbor_allgather_nodes
}  // namespace

constinit const Algorithm neighbor_allgather_nodes = {
    .collective = schedule::Collective::kNeighborAllgather,
    .name = "nodes",
    .summary = "a block goes to each node once, all of a node in one message, by way of carriers",
    .reference = "after Bienz, Gropp, Olson, Node aware sparse matrix-vector multiplication",
    .build = of_neighbor_allgather_nodes::build,
    .root_relative = false,
    .why_not_among = why_not_by_node,
};

}  // namespace hocket::algorithms
