// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/composition.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "algorithms/facts.h"
#include "algorithms/registered.h"

namespace hocket::algorithms {

using schedule::Builder;
using schedule::Collective;
using schedule::Slice;

Lanes::Lanes(const schedule::Nodes& nodes, uint32_t wanted)
    : nodes_(nodes), count_(std::clamp(wanted, 1u, nodes.most())) {}

std::vector<uint32_t> Lanes::lanes_of(uint32_t rank) const {
  std::vector<uint32_t> lanes;
  const uint32_t step = nodes_.ranks_on(nodes_.node_of(rank));
  for (uint32_t lane = nodes_.place_of(rank); lane < count_; lane += step) lanes.push_back(lane);
  return lanes;
}

std::vector<uint32_t> Lanes::members(uint32_t node, uint32_t lane) const {
  std::vector<uint32_t> members;
  const std::vector<uint32_t>& ranks = nodes_.ranks_of(node);
  for (uint32_t place = lane; place < ranks.size(); place += count_) members.push_back(ranks[place]);
  return members;
}

std::vector<uint32_t> Lanes::carriers(uint32_t lane) const {
  std::vector<uint32_t> carriers;
  for (uint32_t node = 0; node < nodes_.count(); ++node) carriers.push_back(carrier(node, lane));
  return carriers;
}

uint32_t Lanes::runner(uint32_t node, uint32_t lane) const {
  const uint32_t ranks = nodes_.ranks_on(node);
  return nodes_.ranks_of(node)[ranks >= count_ ? lane : static_cast<uint32_t>(uint64_t{lane} * ranks / count_)];
}

std::vector<uint32_t> Lanes::run_cuts(uint32_t node) const {
  const uint32_t ranks = nodes_.ranks_on(node);
  std::vector<uint32_t> cuts;
  for (uint64_t place = 0; place <= ranks; ++place) {
    const uint64_t first = ranks >= count_ ? std::min<uint64_t>(place, count_) : (place * count_ + ranks - 1) / ranks;
    cuts.push_back(static_cast<uint32_t>(first));
  }
  return cuts;
}

std::vector<uint32_t> Lanes::runners(uint32_t lane) const {
  std::vector<uint32_t> runners;
  for (uint32_t node = 0; node < nodes_.count(); ++node) runners.push_back(runner(node, lane));
  return runners;
}

namespace {

// Each serves every group, takes blocks of any length and only sends messages.
const Algorithm& default_of(Collective collective) {
  switch (collective) {
    case Collective::kBarrier:
      return barrier_dissemination;
    case Collective::kBroadcast:
      return broadcast_tree_mm;
    case Collective::kReduce:
      return reduce_tree_mm;
    case Collective::kAllreduce:
      return allreduce_recursive_doubling;
    case Collective::kGather:
      return gather_linear;
    case Collective::kScatter:
      return scatter_linear;
    case Collective::kAllgather:
      return allgather_ring;
    case Collective::kReduceScatterBlock:
      return reduce_scatter_block_linear;
    case Collective::kAlltoall:
      return alltoall_linear;
    case Collective::kScan:
      return scan_recursive_doubling;
    case Collective::kExscan:
      return exscan_recursive_doubling;
    default:
      break;
  }
  std::fputs("hocket: a composition has a part that default_of() in composition.cc knows no algorithm for\n", stderr);
  std::abort();
}

void forget_equal(std::vector<uint32_t>& cuts) {
  if (cuts.size() < 2) return;
  const uint32_t length = cuts[1] - cuts[0];
  if (length == 0) return;
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] - cuts[i - 1] != length) return;
  cuts.clear();
}

uint32_t parts_in_nodes(const Algorithm& composition, size_t before) {
  uint32_t count = 0;
  for (size_t i = 0; i < before; ++i) count += composition.parts[i].family == Family::kNode ? 1 : 0;
  return count;
}

}  // namespace

size_t across_part(const Algorithm& composition) {
  const auto is_across = [](const Part& part) { return part.family == Family::kAcross; };
  return static_cast<size_t>(std::find_if(composition.parts.begin(), composition.parts.end(), is_across) -
                             composition.parts.begin());
}

std::string why_no_part(const Algorithm& composition, uint32_t index, const Algorithm& part, PartLimits limits) {
  if (part.collective != composition.parts[index].collective)
    return "it is an algorithm of " + std::string(schedule::name(part.collective));
  if (is_composition(part)) return "it is made of parts itself";
  const Facts facts = facts_of(part);
  if (facts.has_levels) return "it goes within nodes and across them, and a part does one of both";
  if (facts.multicasts && !composition.parts[index].reaches_all_nodes)
    return "it goes to all nodes at once, and this part to some ranks only";
  if (limits.unequal_blocks && !part.takes_unequal_blocks)
    return "blocks differ in length here, and it takes them for equal";
  if (limits.lengths_are_apart && facts.uses_slots)
    return "ranks see different lengths, so they can't agree on how to cut what is published";
  if (composition.parts[index].family == Family::kAcross)
    return runs_over_nodes(part) ? "" : "it needs memory that its ranks share, and they are on several nodes";
  const uint32_t slots = schedule::kMaxSlots / parts_in_nodes(composition, composition.parts.size());
  if (facts.uses_slots && facts.slots > slots)
    return "it takes " + std::to_string(facts.slots) + " slots, and " + std::to_string(slots) + " are left to it";
  if (facts.shares_counters && limits.within_domains)
    return "it counts all ranks of a node, and NUMA domains have only some of them";
  if (facts.exposes_output && index > 0)
    return "it lets peers write where they may still be reading what an earlier part has published";
  return {};
}

void run_part(Builder& builder, const Algorithm& composition, uint32_t index, PartGroup group) {
  const Part& part = composition.parts[index];
  const schedule::Part chosen = builder.shape().parts[index];
  auto root = std::find(group.ranks.begin(), group.ranks.end(), group.root);
  const auto shared_root = std::find(group.shared_ranks.begin(), group.shared_ranks.end(), group.root);
  if (part.collective == Collective::kReduce || part.collective == Collective::kBroadcast) {
    std::rotate(group.ranks.begin(), root, group.ranks.end());
    root = group.ranks.begin();
  }
  forget_equal(group.input_cuts);
  forget_equal(group.output_cuts);
  Builder::GroupOptions options;
  if (schedule::has_root(part.collective)) {
    options.root = static_cast<uint32_t>(group.shared_ranks.empty() ? root - group.ranks.begin()
                                                                    : shared_root - group.shared_ranks.begin());
  }
  options.ranks = std::move(group.ranks);
  options.shared_ranks = group.shared_ranks;
  options.segments = chosen.segments;
  options.degree = chosen.degree;
  options.input = group.input;
  options.output = group.output;
  options.input_cuts = std::move(group.input_cuts);
  options.output_cuts = std::move(group.output_cuts);
  const bool across = part.family == Family::kAcross;
  const uint32_t earlier = parts_in_nodes(composition, index);
  const uint32_t share = parts_in_nodes(composition, composition.parts.size());
  options.slot_base = static_cast<uint8_t>(across ? schedule::kMaxSlots : earlier * (schedule::kMaxSlots / share));
  options.counter_base =
      static_cast<uint8_t>(across ? schedule::kMaxCounters : earlier * (schedule::kMaxCounters / share));
  options.lends_scratch = across;
  builder.enter_group(options);
  (chosen.build != nullptr ? chosen.build : default_of(part.collective).build)(builder);
  builder.leave_group();
}

uint32_t leader_for_root(const Builder& builder) {
  const schedule::Nodes& nodes = builder.nodes();
  return builder.shape().first_ranks_lead ? nodes.ranks_of(nodes.node_of(builder.root())).front() : builder.root();
}

Collector collector_of(Builder& builder) {
  const uint32_t rank = builder.shape().keep_order ? 0 : leader_for_root(builder);
  if (rank == builder.root()) return {rank, builder.output()};
  return {rank, builder.rank() == rank ? scratch_like(builder, builder.input()) : builder.input()};
}

void send_on(Builder& builder, const Collector& collector) {
  if (collector.rank == builder.root()) return;
  if (builder.rank() == collector.rank) builder.send(builder.root(), collector.result);
  if (builder.rank() == builder.root()) builder.receive(collector.rank, builder.output());
}

uint32_t leader_of(const schedule::Nodes& nodes, uint32_t node, uint32_t collector) {
  return nodes.node_of(collector) == node ? collector : nodes.ranks_of(node).front();
}

std::vector<uint32_t> leaders_of(const schedule::Nodes& nodes, uint32_t collector) {
  std::vector<uint32_t> leaders;
  for (uint32_t node = 0; node < nodes.count(); ++node) leaders.push_back(leader_of(nodes, node, collector));
  return leaders;
}

std::optional<Slice> nodes_before(Builder& builder, const Algorithm& composition, uint32_t across, const Slice& total) {
  const schedule::Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(builder.rank());
  const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
  const bool is_last = builder.rank() == ranks.back();
  if (nodes.count() == 1 || (node == 0 && !is_last)) return std::nullopt;
  const Slice before = scratch_like(builder, builder.input());
  if (is_last) {
    std::vector<uint32_t> last_ranks;
    for (uint32_t each = 0; each < nodes.count(); ++each) last_ranks.push_back(nodes.ranks_of(each).back());
    const uint32_t first = last_ranks.front();
    run_part(builder, composition, across,
             {.ranks = std::move(last_ranks), .root = first, .input = total, .output = before});
  }
  if (node == 0) return std::nullopt;
  run_part(builder, composition, across + 1, {.ranks = ranks, .root = ranks.back(), .output = before});
  return before;
}

// The root sees all lengths.
std::vector<uint32_t> leader_passes_on(const schedule::Nodes& nodes, uint32_t node, uint32_t root, uint32_t) {
  if (nodes.node_of(root) == node) return {};
  return {leader_of(nodes, node, root)};
}

std::vector<uint32_t> ranks_by_node(const schedule::Nodes& nodes) {
  std::vector<uint32_t> all;
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const std::vector<uint32_t>& ranks = nodes.ranks_of(node);
    all.insert(all.end(), ranks.begin(), ranks.end());
  }
  return all;
}

std::vector<uint32_t> node_cuts(const schedule::Nodes& nodes) {
  std::vector<uint32_t> cuts = {0};
  for (uint32_t node = 0; node < nodes.count(); ++node) cuts.push_back(cuts.back() + nodes.ranks_on(node));
  return cuts;
}

PartCall run_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t wanted) {
  if (nodes.most() == 1) return {bytes, 0, false};
  const Lanes lanes(nodes, wanted);
  uint32_t longest = 0;
  bool unequal = false;
  for (uint32_t node = 0; node < nodes.count(); ++node) {
    const std::vector<uint32_t> cuts = lanes.run_cuts(node);
    for (size_t i = 1; i < cuts.size(); ++i) {
      longest = std::max(longest, cuts[i] - cuts[i - 1]);
      unequal |= cuts[i] - cuts[i - 1] != cuts[1] - cuts[0];
    }
  }
  return {lane_call(nodes, bytes, wanted).bytes * longest, nodes.most(), unequal};
}

PartCall lane_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes) {
  const uint32_t count = Lanes(nodes, lanes).count();
  return {bytes / count + (bytes % count != 0 ? 1 : 0), nodes.count(), false};
}

PartCall run_blocks_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t lanes) {
  PartCall call = run_call(nodes, bytes, lanes);
  call.unequal_blocks = true;
  return call;
}

Slice like_row(uint32_t blocks) {
  Slice row;
  row.buffer = schedule::Buffer::kInput;
  row.blocks = std::max(blocks, 1u);
  row.last = blocks == 0 ? 0 : 1;
  return row;
}

Slice scratch_like(Builder& builder, const Slice& part) {
  return Builder::in_scratch(builder.scratch_area(part), part, part);
}

PartCall node_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t) { return {bytes, nodes.most(), false}; }

PartCall leader_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t) { return {bytes, nodes.count(), false}; }

PartCall leader_blocks_call(const schedule::Nodes& nodes, uint64_t bytes, uint32_t) {
  return {bytes * nodes.most(), nodes.count(), !nodes.is_even()};
}

}  // namespace hocket::algorithms
