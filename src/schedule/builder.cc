// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/builder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/assertion.h"

namespace hocket::schedule {
namespace {

// Algorithms are hocket's own code: a mistake in one is found by its first test, and no caller could go on from it.
void require(bool condition, const char* sentence) {
  if (condition) return;
  std::fprintf(stderr, "hocket: an algorithm misused the schedule builder: %s\n", sentence);
  std::abort();
}

uint32_t narrow(uint64_t value) {
  require(value <= std::numeric_limits<uint32_t>::max(), "a slice is cut into too many parts");
  return static_cast<uint32_t>(value);
}

// A slice's fractions in lowest terms, so that parts of parts stay representable and equal slices compare equal.
Slice reduced(Slice slice, uint64_t first, uint64_t last, uint64_t origin, uint64_t of) {
  const uint64_t divisor = std::gcd(std::gcd(first, last), std::gcd(origin, of));
  slice.first = narrow(first / divisor);
  slice.last = narrow(last / divisor);
  slice.origin = narrow(origin / divisor);
  slice.of = narrow(of / divisor);
  return slice;
}

// `part` with its offset counted from where `base` begins.
Slice relative_to(const Slice& part, const Slice& base) {
  require(part.blocks == base.blocks, "a part and its base must be slices of buffers of the same extent");
  const uint64_t of = std::lcm<uint64_t>(part.of, base.of);
  const uint64_t scale = of / part.of;
  const uint64_t origin = base.first * (of / base.of);
  require(origin <= part.first * scale, "a part begins before its base");
  return reduced(part, part.first * scale, part.last * scale, origin, of);
}

Slice whole_buffer(Buffer buffer, uint32_t blocks) {
  Slice slice;
  if (blocks == 0) return slice;
  slice.buffer = buffer;
  slice.blocks = blocks;
  slice.last = 1;
  return slice;
}

}  // namespace

Builder::Builder(Collective collective, const Shape& shape) {
  require(shape.size > 0 && shape.rank < shape.size && shape.root < shape.size, "rank or root out of range");
  require(shape.segments > 0, "a message has at least one segment");
  require(is_among_neighbors(collective) == (shape.neighbours != nullptr) &&
              (shape.neighbours == nullptr || shape.neighbours->ranks() == shape.size),
          "the neighbours are those of another communicator, or of no collective among neighbours");
  plan_.collective = collective;
  plan_.shape = shape;
  Group group;
  group.shape = shape;
  group.input = whole_buffer(Buffer::kInput, input_blocks(collective, shape));
  group.output = whole_buffer(Buffer::kOutput, output_blocks(collective, shape));
  group.is_whole = true;
  give_nodes(group);
  require(group.nodes == nullptr || group.nodes->ranks() == shape.size, "the nodes are those of another communicator");
  groups_.push_back(std::move(group));
}

void Builder::give_nodes(Group& group) {
  const Shape& shape = group.shape;
  group.nodes = shape.nodes != nullptr && shape.nodes->count() > 1 ? shape.nodes : shape.domains;
}

const Nodes& Builder::nodes() const {
  was_asked_for_nodes_ = true;
  const Group& asked = group();
  if (asked.nodes != nullptr) return *asked.nodes;
  if (asked.own_nodes == nullptr) asked.own_nodes = std::make_shared<const Nodes>(asked.shape.size);
  return *asked.own_nodes;
}

// --- slices -------------------------------------------------------------------------------------------------

Slice Builder::parts_of(const Slice& whole, uint32_t first, uint32_t last, uint32_t parts) {
  require(parts > 0 && first <= last && last <= parts, "no such part of a slice");
  const uint64_t begin = static_cast<uint64_t>(whole.first) * parts;
  const uint64_t length = whole.last - whole.first;
  return reduced(whole, begin + length * first, begin + length * last, static_cast<uint64_t>(whole.origin) * parts,
                 static_cast<uint64_t>(whole.of) * parts);
}

Slice Builder::block(const Slice& whole, const std::vector<uint32_t>& cuts, uint32_t index) const {
  if (cuts.empty()) return part(whole, index, size());
  HOCKET_ASSERT(index + 1 < cuts.size(), "a group has a block for each of its ranks");
  if (cuts.back() == 0) return {};  // all blocks are missing
  return parts_of(whole, cuts[index], cuts[index + 1], cuts.back());
}

Slice Builder::scratch_row(std::vector<uint64_t> blocks) {
  Slice like = whole_buffer(Buffer::kInput, narrow(blocks.size()));
  require(!blocks.empty(), "a row holds some block");
  if (!plan_.shape.varies) return in_scratch(scratch_area(like), like, like);
  return in_scratch(add_area({like.blocks, 1}, std::make_shared<const std::vector<uint64_t>>(std::move(blocks))), like,
                    like);
}

std::shared_ptr<const std::vector<uint64_t>> Builder::row_of(uint8_t area) const {
  return area < plan_.rows.size() ? plan_.rows[area] : nullptr;
}

uint8_t Builder::add_area(const ScratchArea& area, std::shared_ptr<const std::vector<uint64_t>> row) {
  require(plan_.scratch.size() < kMaxScratchAreas, "too many scratch areas");
  plan_.scratch.push_back(area);
  if (row != nullptr) {
    plan_.rows.resize(plan_.scratch.size());
    plan_.rows.back() = std::move(row);
  }
  return static_cast<uint8_t>(plan_.scratch.size() - 1);
}

uint8_t Builder::scratch_area(const Slice& like) {
  const uint64_t length = static_cast<uint64_t>(like.last - like.first) * like.blocks;
  const uint64_t divisor = std::gcd(length, static_cast<uint64_t>(like.of));
  const ScratchArea wanted{narrow(length / divisor), narrow(like.of / divisor)};
  const auto row = like.buffer == Buffer::kScratch ? row_of(like.area) : nullptr;
  const auto is_as_long = [&](uint8_t area) {
    const ScratchArea& found = plan_.scratch[area];
    return found.numerator == wanted.numerator && found.denominator == wanted.denominator && row_of(area) == row;
  };
  const auto free = std::find_if(free_areas_.begin(), free_areas_.end(), is_as_long);
  if (free == free_areas_.end()) {
    groups_.back().made.push_back(add_area(wanted, row));
  } else {
    groups_.back().made.push_back(*free);
    free_areas_.erase(free);
  }
  return groups_.back().made.back();
}

Slice Builder::in_scratch(uint8_t area, const Slice& part, const Slice& base) {
  Slice slice = relative_to(part, base);
  slice.buffer = Buffer::kScratch;
  slice.area = area;
  return slice;
}

// --- steps --------------------------------------------------------------------------------------------------

Step& Builder::append(StepKind kind) {
  Step step;
  step.kind = kind;
  step.ends_stage = !in_stage_;
  plan_.steps.push_back(step);
  return plan_.steps.back();
}

uint32_t Builder::plan_rank(uint32_t group_rank) const {
  require(group_rank < size(), "peer out of range");
  return group().is_whole ? group_rank : group().ranks[group_rank];
}

uint32_t Builder::plan_multicaster(uint32_t group_rank) const {
  require(group_rank != rank(), "a rank takes no multicast of its own");
  return plan_rank(group_rank);
}

uint8_t Builder::plan_slot(uint8_t slot) {
  const uint32_t number = group().slot_base + slot;
  require(number < kMaxSlots, "slot number out of range");
  plan_.slots = std::max<uint8_t>(plan_.slots, static_cast<uint8_t>(number + 1));
  plan_.uses_slots_or_counters = true;
  return static_cast<uint8_t>(number);
}

uint8_t Builder::plan_counter(uint8_t counter) {
  const uint32_t number = group().counter_base + counter;
  require(number < kMaxCounters, "counter number out of range");
  counters_used_ = std::max(counters_used_, number + 1);
  plan_.uses_slots_or_counters = true;
  return static_cast<uint8_t>(number);
}

Step& Builder::append_two_sided(StepKind kind, uint32_t peer) {
  require(peer != rank(), "a rank sends nothing to itself");
  const uint32_t plan_peer = plan_rank(peer);
  Step& step = append(kind);
  step.peer = plan_peer;
  return step;
}

Step& Builder::append_one_sided(StepKind kind, const From& from) {
  require(from.version > 0, "versions count from 1");
  const uint32_t plan_peer = plan_rank(from.peer);
  const uint8_t number = plan_slot(from.slot);
  Slice target;
  if (from.part.buffer != Buffer::kNone) {
    require(from.part.buffer == from.whole.buffer && from.part.area == from.whole.area,
            "a part and the publication it belongs to must be slices of the same buffer");
    target = relative_to(from.part, from.whole);
  }
  Step& step = append(kind);
  step.peer = plan_peer;
  step.slot = number;
  step.version = from.version;
  step.target = target;
  return step;
}

Step& Builder::append_counter(StepKind kind, uint8_t counter, uint32_t value) {
  require(value > 0, "counters are added to and waited for by 1 or more");
  const uint8_t number = plan_counter(counter);
  Step& step = append(kind);
  step.slot = number;
  step.value = value;
  return step;
}

void Builder::begin_stage() {
  require(!in_stage_, "a stage begins within a stage");
  in_stage_ = true;
  stage_begin_ = plan_.steps.size();
}

void Builder::end_stage() {
  require(in_stage_, "a stage ends that has not started");
  in_stage_ = false;
  if (plan_.steps.size() > stage_begin_) plan_.steps.back().ends_stage = true;
}

void Builder::send(uint32_t peer, const Slice& source) { append_two_sided(StepKind::kSend, peer).source = source; }

void Builder::receive(uint32_t peer, const Slice& destination) {
  append_two_sided(StepKind::kReceive, peer).destination = destination;
}

void Builder::receive_combine(uint32_t peer, const Slice& local, const Slice& destination, bool incoming_left) {
  Step& step = append_two_sided(StepKind::kReceiveCombine, peer);
  step.source = local;
  step.destination = destination;
  step.incoming_left = incoming_left;
}

void Builder::add(uint32_t peer, uint8_t counter, uint32_t value) {
  const uint32_t plan_peer = plan_rank(peer);
  append_counter(StepKind::kAdd, counter, value).peer = plan_peer;
}

void Builder::wait_until(uint8_t counter, uint32_t value) {
  append_counter(StepKind::kWaitUntil, counter, value).peer = plan_rank(rank());
}

void Builder::own_total(uint8_t counter, uint32_t total) {
  uint32_t& stated = plan_.own_total[plan_counter(counter)];
  require(stated == 0, "an own counter's total is stated twice");
  stated = total;
}

// Whether the group is these ranks of the plan, in whatever order.
bool Builder::is_node(const std::vector<uint32_t>& ranks) const {
  return group().is_whole ? size() == ranks.size() : std::ranges::is_permutation(ranks, group().ranks);
}

void Builder::require_whole_node() const {
  const Nodes* all = plan_.shape.nodes;
  const bool is_whole =
      all == nullptr ? size() == plan_.shape.size : is_node(all->ranks_of(all->node_of(plan_.shape.rank)));
  require(is_whole, "shared counters can be used by all ranks of a node only");
}

void Builder::add_shared(uint8_t counter, uint32_t value) {
  require_whole_node();
  append_counter(StepKind::kAdd, counter, value).peer = kShared;
}

void Builder::wait_until_shared(uint8_t counter, uint32_t value) {
  require_whole_node();
  append_counter(StepKind::kWaitUntil, counter, value).peer = kShared;
}

void Builder::shared_total(uint8_t counter, uint32_t total) {
  require_whole_node();
  uint32_t& stated = plan_.shared_total[plan_counter(counter)];
  require(stated == 0, "a shared counter's total is stated twice");
  stated = total;
}

void Builder::copy(const Slice& source, const Slice& destination) {
  if (source == destination) return;
  Step& step = append(StepKind::kCopy);
  step.source = source;
  step.destination = destination;
}

void Builder::trigger(const Slice& source, const Slice& destination) {
  Step& step = append(StepKind::kTrigger);
  step.source = source;
  step.destination = destination;
}

void Builder::combine(const Slice& source, const Slice& destination, bool source_left) {
  Step& step = append(StepKind::kCombine);
  step.source = source;
  step.destination = destination;
  step.incoming_left = source_left;
}

// --- composition --------------------------------------------------------------------------------------------

void Builder::add_ranks(Group& inner, const GroupOptions& options) const {
  const bool are_shared = !options.shared_ranks.empty();
  HOCKET_ASSERT(!are_shared || options.ranks.empty(), "a group has ranks of its own or shares them");
  const std::span<const uint32_t> ranks = are_shared ? options.shared_ranks : std::span(options.ranks);
  HOCKET_ASSERT(!are_shared || std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end(),
                "ranks that are shared ascend");
  const auto own = are_shared ? std::ranges::lower_bound(ranks, rank()) : std::ranges::find(ranks, rank());
  require(own != ranks.end() && *own == rank(), "a rank enters a group that it is not in");
  require(are_shared || std::find(own + 1, ranks.end(), rank()) == ranks.end(), "a rank is twice in a group");
  inner.shape.size = static_cast<uint32_t>(ranks.size());
  inner.shape.rank = static_cast<uint32_t>(own - ranks.begin());
  inner.ranks = ranks;
  if (are_shared && group().is_whole) return require(ranks.back() < size(), "peer out of range");
  inner.own_ranks.reserve(ranks.size());
  for (const uint32_t each : ranks) inner.own_ranks.push_back(plan_rank(each));
  inner.ranks = inner.own_ranks;
}

void Builder::enter_group(const GroupOptions& options) {
  require(!in_stage_, "a group is entered within a stage");
  Group inner;
  add_ranks(inner, options);
  require(options.root < inner.ranks.size(), "a group's root is not one of its ranks");
  require(options.segments > 0, "a message has at least one segment");
  for (const auto* cuts : {&options.input_cuts, &options.output_cuts}) {
    require(cuts->empty() || cuts->size() == inner.ranks.size() + 1, "a group has a block for each of its ranks");
    require(std::is_sorted(cuts->begin(), cuts->end()), "a group's blocks follow each other");
  }
  inner.shape.root = options.root;
  inner.shape.segments = options.segments;
  inner.shape.degree = options.degree;
  inner.shape.keep_order = shape().keep_order;
  inner.shape.in_place = in_place() || options.input.buffer == options.output.buffer;
  inner.input = options.input;
  inner.output = options.output;
  inner.input_cuts = options.input_cuts;
  inner.output_cuts = options.output_cuts;
  give_nodes(inner);
  inner.slot_base = group().slot_base + options.slot_base;
  inner.counter_base = group().counter_base + options.counter_base;
  inner.lends_scratch = options.lends_scratch;
  require(plan_.slots <= inner.slot_base, "a group's slots have been used before");
  require(counters_used_ <= inner.counter_base, "a group's counters have been used before");
  groups_.push_back(std::move(inner));
}

void Builder::leave_group() {
  require(groups_.size() > 1, "a group is left that was not entered");
  require(!in_stage_, "a group is left within a stage");
  const Group left = std::move(groups_.back());
  groups_.pop_back();
  std::vector<uint8_t>& areas = left.lends_scratch ? free_areas_ : groups_.back().made;
  areas.insert(areas.end(), left.made.begin(), left.made.end());
}

Plan Builder::finish() {
  require(!in_stage_, "a plan ends within a stage");
  require(groups_.size() == 1, "a plan ends within a group");
  return std::move(plan_);
}

}  // namespace hocket::schedule
