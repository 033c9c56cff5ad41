// SPDX-License-Identifier: BSD-3-Clause
// Which ranks take part in a communicator, and where: ranks, the nodes that they are on, what of their memory is mapped
// here, and how those on other nodes are reached. Fixed once the communicator is set up.
//
// Ranks that share memory form a node. To the engine of shared memory a node is a group of its own, in which ranks go
// by their places; everything else counts ranks of the whole communicator.
//
// Thread safety: immutable, but for the group (engines/shared_memory/group.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/shared_memory/group.h"
#include "engines/wire/channel.h"
#include "platform/bootstrap/connector.h"
#include "platform/whereabouts/own_record.h"
#include "schedule/nodes.h"

namespace hocket::communicator {

// What a communicator of several nodes has of the wire.
struct WirePart {
  engines::wire::Wire* wire = nullptr;
  std::vector<uint32_t> addresses;  // by rank, its number there
  uint32_t first_tag = 0;           // of those that are this communicator's
  uint32_t marks = 1;               // tags a track
  uint32_t reports_tag = 0;         // of messages beside the calls
  uint64_t unique_number = 0;       // of the communicator; tags are used again
  std::vector<std::string> places;  // by rank, "process 4711 on host n2", for sentences

  engines::wire::TagRange tags_of(uint32_t track) const { return {first_tag + track * marks, marks}; }
};

struct Participants {
  uint32_t rank = 0;
  uint32_t size = 1;
  std::unique_ptr<const schedule::Nodes> nodes;        // nullptr: all ranks are on one
  std::unique_ptr<const schedule::Nodes> domains;      // of that one; nullptr: it has no other, or they are unknown
  std::unique_ptr<const schedule::Nodes> caches;       // likewise: who shares a cache of the last level
  std::unique_ptr<const schedule::Nodes> sockets;      // likewise
  std::vector<std::shared_ptr<platform::Peer>> peers;  // by place on this node; nullptr for this rank
  std::unique_ptr<engines::shared_memory::NodeGroup> group;
  uint64_t number = 0;                          // the same on all ranks, and no other communicator's
  platform::CommunicatorName* noted = nullptr;  // in this process's record; nullptr: it has no place there
  // Its number among the tracer's; nullptr: nothing is traced. Relaxed: it stands for itself.
  std::unique_ptr<std::atomic<uint16_t>> traced_name;
  bool have_notices = false;  // behind the members' blocks there is room for them
  WirePart wire;              // of several nodes

  bool span_nodes() const { return nodes != nullptr; }
  // Of this node.
  uint32_t ranks_here() const {
    return nodes == nullptr ? size : static_cast<uint32_t>(nodes->ranks_of(nodes->node_of(rank)).size());
  }
  uint32_t rank_at(uint32_t place) const {
    return nodes == nullptr ? place : nodes->ranks_of(nodes->node_of(rank))[place];
  }
  uint32_t place_of(uint32_t other) const { return nodes == nullptr ? other : nodes->place_of(other); }
  bool is_here(uint32_t other) const { return nodes == nullptr || nodes->together(other, rank); }
};

}  // namespace hocket::communicator
