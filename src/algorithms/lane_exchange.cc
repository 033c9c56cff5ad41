// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/lane_exchange.h"

#include <algorithm>

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Nodes;
using schedule::Slice;

enum : uint32_t { kNode, kAcross, kSpread };

// The bundles that travel together. Its sender and its receiver make the same list.
class Traffic {
 public:
  Traffic(const Lanes& lanes, LaneOf by) : lanes_(lanes), nodes_(lanes.nodes()), by_(by) {}

  // Whether anything is left to do there, in the steps within a node.
  bool aggregates(uint32_t node) const {
    return by_ == LaneOf::kDestination ? nodes_.ranks_on(node) > 1 : nodes_.ranks_on(node) > lanes_.count();
  }
  bool distributes(uint32_t node) const {
    return by_ == LaneOf::kSource ? nodes_.ranks_on(node) > 1 : nodes_.ranks_on(node) > lanes_.count();
  }

  // What `source` gives to a carrier of its node: lane by lane, for one node after the other.
  BlockList to_carrier(uint32_t source, uint32_t carrier) const {
    BlockList blocks;
    for (const uint32_t lane : lanes_.lanes_of(carrier))
      for (uint32_t node = 0; node < nodes_.count(); ++node)
        for (const uint32_t destination : destinations(source, node, lane))
          blocks.push_back(block(source, destination));
    return blocks;
  }
  // What goes from node to node by a lane.
  BlockList across(uint32_t from, uint32_t to, uint32_t lane) const {
    BlockList blocks;
    for (const uint32_t source : sources(from, lane))
      for (const uint32_t destination : destinations(source, to, lane)) blocks.push_back(block(source, destination));
    return blocks;
  }
  // What a carrier hands to `destination` on its node.
  BlockList from_carrier(uint32_t carrier, uint32_t destination) const {
    BlockList blocks;
    for (const uint32_t lane : lanes_.lanes_of(carrier)) {
      if (by_ == LaneOf::kDestination && lane_of(destination) != lane) continue;
      for (uint32_t node = 0; node < nodes_.count(); ++node)
        for (const uint32_t source : sources(node, lane)) blocks.push_back(block(source, destination));
    }
    return blocks;
  }
  // A rank's own row, from it or for it, as the caller has it.
  BlockList all_from(uint32_t source) const {
    BlockList blocks;
    for (uint32_t rank = 0; rank < nodes_.ranks(); ++rank) blocks.push_back(block(source, rank));
    return blocks;
  }
  BlockList all_to(uint32_t destination) const {
    BlockList blocks;
    for (uint32_t rank = 0; rank < nodes_.ranks(); ++rank) blocks.push_back(block(rank, destination));
    return blocks;
  }

 private:
  uint64_t block(uint32_t source, uint32_t destination) const {
    return uint64_t{source} * nodes_.ranks() + destination;
  }
  uint32_t lane_of(uint32_t rank) const { return lanes_.lane_of_place(nodes_.place_of(rank)); }
  // Of a node, those that send anything by the lane, and those on another for whom a source has something there.
  std::vector<uint32_t> sources(uint32_t node, uint32_t lane) const {
    return by_ == LaneOf::kSource ? lanes_.members(node, lane) : nodes_.ranks_of(node);
  }
  std::vector<uint32_t> destinations(uint32_t source, uint32_t node, uint32_t lane) const {
    if (by_ == LaneOf::kDestination) return lanes_.members(node, lane);
    return lane_of(source) == lane ? nodes_.ranks_of(node) : std::vector<uint32_t>{};
  }

  const Lanes& lanes_;
  const Nodes& nodes_;
  LaneOf by_;
};

class Exchange {
 public:
  Exchange(Builder& builder, const Algorithm& composition, const Lanes& lanes, LaneOf by)
      : builder_(builder),
        composition_(composition),
        lanes_(lanes),
        traffic_(lanes, by),
        me_(builder.rank()),
        node_(lanes.nodes().node_of(me_)),
        ranks_(lanes.nodes().ranks_of(node_)) {}

  void run() {
    const BlockRow input{builder_.input(), traffic_.all_from(me_)};
    const BlockRow output{builder_.output(), traffic_.all_to(me_)};
    const bool distributes = traffic_.distributes(node_);
    const BlockRow held = traffic_.aggregates(node_) ? aggregate(input) : input;
    const BlockRow crossed = cross(held, distributes ? BlockRow{} : output);
    arrange(builder_, distributes ? distribute(crossed, output) : crossed, output);
    if (builder_.shape().varies) exchange_long();
  }

 private:
  // What is too long for detours, all at once.
  void exchange_long() {
    const uint32_t size = builder_.size();
    builder_.begin_stage();
    for (uint32_t i = 1; i < size; ++i) {
      const uint32_t to = (me_ + i) % size;
      builder_.send(to, as_long(builder_.input_block(to)));
    }
    builder_.copy(as_long(builder_.input_block(me_)), as_long(builder_.output_block(me_)));
    for (uint32_t i = 1; i < size; ++i) {
      const uint32_t from = (me_ + size - i) % size;
      builder_.receive(from, as_long(builder_.output_block(from)));
    }
    builder_.end_stage();
  }

  BlockRow aggregate(const BlockRow& row) {
    Bundles given;
    Bundles taken;
    for (const uint32_t rank : ranks_) given.add(traffic_.to_carrier(me_, rank));
    for (const uint32_t rank : ranks_) taken.add(traffic_.to_carrier(rank, me_));
    return exchange(kNode, ranks_, row, given, room_for(builder_, taken.blocks, {}), taken.cuts);
  }

  BlockRow distribute(const BlockRow& row, const BlockRow& output) {
    Bundles given;
    Bundles taken;
    for (const uint32_t rank : ranks_) given.add(traffic_.from_carrier(me_, rank));
    for (const uint32_t rank : ranks_) taken.add(traffic_.from_carrier(rank, me_));
    return exchange(kSpread, ranks_, row, given, room_for(builder_, taken.blocks, output), taken.cuts);
  }

  // The lanes that this rank carries, one after the other: all ranks take them in ascending order.
  BlockRow cross(const BlockRow& row, const BlockRow& output) {
    BlockList given;
    BlockList taken;
    const std::vector<uint32_t> lanes = lanes_.lanes_of(me_);
    for (const uint32_t lane : lanes) {
      append(given, given_by(lane).blocks);
      append(taken, taken_by(lane).blocks);
    }
    BlockRow sent = arranged(builder_, row, std::move(given));
    if (lanes_.nodes().count() == 1) return sent;
    const BlockRow received = room_for(builder_, std::move(taken), output);
    uint32_t sent_before = 0;
    uint32_t received_before = 0;
    for (const uint32_t lane : lanes) {
      const Bundles out = given_by(lane);
      const Bundles in = taken_by(lane);
      run_part(builder_, composition_, kAcross,
               {.ranks = lanes_.carriers(lane),
                .root = lanes_.carrier(0, lane),
                .input = blocks_of(sent, sent_before, out),
                .output = blocks_of(received, received_before, in),
                .input_cuts = out.cuts,
                .output_cuts = in.cuts});
      sent_before += out.cuts.back();
      received_before += in.cuts.back();
    }
    return received;
  }

  Bundles given_by(uint32_t lane) const {
    Bundles bundles;
    for (uint32_t node = 0; node < lanes_.nodes().count(); ++node) bundles.add(traffic_.across(node_, node, lane));
    return bundles;
  }
  Bundles taken_by(uint32_t lane) const {
    Bundles bundles;
    for (uint32_t node = 0; node < lanes_.nodes().count(); ++node) bundles.add(traffic_.across(node, node_, lane));
    return bundles;
  }

  BlockRow exchange(uint32_t part, const std::vector<uint32_t>& ranks, const BlockRow& row, Bundles& given,
                    BlockRow received, std::vector<uint32_t>& received_cuts) {
    const BlockRow sent = arranged(builder_, row, std::move(given.blocks));
    run_part(builder_, composition_, part,
             {.ranks = ranks,
              .root = ranks.front(),
              .input = sent.slice,
              .output = received.slice,
              .input_cuts = std::move(given.cuts),
              .output_cuts = std::move(received_cuts)});
    return received;
  }

  static void append(BlockList& list, const BlockList& more) { list.insert(list.end(), more.begin(), more.end()); }
  static Slice blocks_of(const BlockRow& row, uint32_t before, const Bundles& bundles) {
    const auto all = static_cast<uint32_t>(row.blocks.size());
    const uint32_t count = bundles.cuts.back();
    return count == 0 ? like_row(0) : Builder::parts_of(row.slice, before, before + count, all);
  }

  Builder& builder_;
  const Algorithm& composition_;
  const Lanes& lanes_;
  const Traffic traffic_;
  uint32_t me_;
  uint32_t node_;
  const std::vector<uint32_t>& ranks_;
};

// Ranks at a lane's places, on a node of that many.
uint32_t members(uint32_t ranks, uint32_t lane, uint32_t lanes) {
  return ranks > lane ? (ranks - lane + lanes - 1) / lanes : 0;
}

}  // namespace

void exchange_by_lanes(Builder& builder, const Algorithm& composition, uint32_t lanes, LaneOf by) {
  const Lanes all(builder.nodes(), lanes);
  Exchange(builder, composition, all, by).run();
}

std::vector<uint32_t> carriers_pass_on(const Nodes& nodes, uint32_t node, uint32_t lanes) {
  std::vector<uint32_t> carriers = nodes.ranks_of(node);
  carriers.resize(std::min<size_t>(carriers.size(), Lanes(nodes, lanes).count()));
  return carriers;
}

Bundles blocks_of_lane(const Lanes& lanes, uint32_t lane) {
  Bundles bundles;
  for (uint32_t node = 0; node < lanes.nodes().count(); ++node) bundles.add(as_blocks(lanes.members(node, lane)));
  return bundles;
}

Bundles blocks_by_carrier(const Lanes& lanes, uint32_t node) {
  Bundles bundles;
  for (const uint32_t rank : lanes.nodes().ranks_of(node)) {
    BlockList blocks;
    for (const uint32_t lane : lanes.lanes_of(rank)) {
      const BlockList one = blocks_of_lane(lanes, lane).blocks;
      blocks.insert(blocks.end(), one.begin(), one.end());
    }
    bundles.add(blocks);
  }
  return bundles;
}

uint32_t members_of_lane(const Nodes& nodes, uint32_t lanes) {
  return members(nodes.most(), 0, Lanes(nodes, lanes).count());
}

uint32_t members_without_lane(const Nodes& nodes, uint32_t lanes) {
  const uint32_t count = members_of_lane(nodes, lanes);
  return count > 1 ? count : 0;
}

PartCall lane_crossing(const Nodes& nodes, uint64_t bytes, uint32_t lanes) {
  return {bytes * nodes.most() * members_of_lane(nodes, lanes), nodes.count(), !nodes.is_even()};
}

PartCall lane_aggregation(const Nodes& nodes, uint64_t bytes, uint32_t lanes, LaneOf by) {
  const uint32_t count = Lanes(nodes, lanes).count();
  if (by == LaneOf::kSource) {
    const uint32_t ranks = nodes.most() > count ? nodes.most() : 0;
    return {bytes * nodes.ranks(), ranks, true};
  }
  if (nodes.most() == 1) return {bytes, 0, false};
  // Blocks that a rank has for each lane, and then for each carrier.
  std::vector<uint64_t> by_lane(count);
  for (uint32_t node = 0; node < nodes.count(); ++node)
    for (uint32_t lane = 0; lane < count; ++lane) by_lane[lane] += members(nodes.ranks_on(node), lane, count);
  uint64_t longest = 0;
  bool unequal = false;
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    std::vector<uint64_t> by_place(nodes.ranks_on(node));
    for (uint32_t lane = 0; lane < count; ++lane) by_place[lane % by_place.size()] += by_lane[lane];
    const auto [least, most] = std::minmax_element(by_place.begin(), by_place.end());
    longest = std::max(longest, *most);
    unequal |= *least != *most;
  }
  return {bytes * longest, nodes.most(), unequal};
}

// The same with sources and destinations exchanged.
PartCall lane_distribution(const Nodes& nodes, uint64_t bytes, uint32_t lanes, LaneOf by) {
  return lane_aggregation(nodes, bytes, lanes, by == LaneOf::kSource ? LaneOf::kDestination : LaneOf::kSource);
}

}  // namespace hocket::algorithms
