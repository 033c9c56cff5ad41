// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/neighbor_dimensions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "base/assertion.h"

namespace hocket::algorithms {
namespace {

using schedule::Builder;
using schedule::Grid;
using schedule::Slice;

// Two scratch areas are taken for each.
constexpr uint32_t kMostDimensions = schedule::kMaxScratchAreas / 2 - 1;

// A block of a row: the caller's buffers, or an area in which what has come, or is to go, lies side by side.
struct Place {
  Slice row;
  uint32_t index = 0;
  uint32_t of = 1;

  Slice slice() const { return Builder::part(row, index, of); }
};

// What travels as one: the block for these neighbours, who have had the same way so far.
struct Item {
  std::vector<uint32_t> neighbours;
  Place place;
};

// Items of the current dimension that go the same number of steps, each made of one of the last dimension.
struct Group {
  int32_t steps = 0;
  std::vector<Item> items;
};

class Exchange {
 public:
  explicit Exchange(Builder& builder) : builder_(builder), grid_(*builder.neighbours().grid()) {}

  void run() {
    begin();
    for (uint32_t dimension = 0; dimension < grid_.dimensions(); ++dimension) travel(dimension);
    deliver();
  }

 private:
  uint32_t rank() const { return builder_.rank(); }
  // Of a neighbour: as few as there is a difference between.
  int32_t steps(uint32_t k, uint32_t dimension) const {
    const int32_t asked = grid_.offset(k)[dimension];
    if (!grid_.is_periodic[dimension]) return asked;
    const auto length = static_cast<int64_t>(grid_.lengths[dimension]);
    return static_cast<int32_t>((asked % length + length) % length);
  }
  // Whether this rank has the neighbour's block before `dimension`, and it is for somebody.
  bool passes_here(uint32_t k, uint32_t dimension) const {
    for (uint32_t d = 0; d < grid_.dimensions(); ++d) {
      const int32_t way = d < dimension ? -grid_.offset(k)[d] : grid_.offset(k)[d];
      if (grid_.along(rank(), d, way) == schedule::kNoRank) return false;
    }
    return true;
  }
  bool passes_here(const Item& item, uint32_t dimension) const {
    return std::any_of(item.neighbours.begin(), item.neighbours.end(),
                       [&](uint32_t k) { return passes_here(k, dimension); });
  }
  bool is_there(const Item& item, uint32_t dimension) const {
    for (const uint32_t k : item.neighbours)
      for (uint32_t d = dimension; d < grid_.dimensions(); ++d)
        if (steps(k, d) != 0) return false;
    return true;
  }
  bool is_alltoall() const { return builder_.input().blocks == grid_.neighbours(); }
  // Of the block that the item is, where this rank has it before `dimension`.
  uint64_t number_of(const Item& item, uint32_t dimension) const {
    uint32_t origin = rank();
    for (uint32_t d = 0; d < dimension; ++d) origin = grid_.along(origin, d, -grid_.offset(item.neighbours.front())[d]);
    return is_alltoall() ? builder_.neighbours().number_out(origin, item.neighbours.front()) : origin;
  }
  // Whether the items lie side by side, in their order. Where blocks differ in length the caller's lie anywhere.
  bool is_row(const std::vector<Item>& items) const;
  Place place_in(uint32_t k) const { return {builder_.output(), grid_.slots[k], grid_.neighbours()}; }

  void begin();
  std::vector<Group> groups(uint32_t dimension) const;
  void travel(uint32_t dimension);
  std::vector<Item> of_those(const Group& group, uint32_t dimension) const;
  std::vector<Slice> pack(const std::vector<std::vector<Item>>& outgoing, uint32_t dimension);
  Slice make_room(std::vector<Item>& incoming, uint32_t dimension, Place& room);
  bool needs_room(const std::vector<Item>& items, uint32_t dimension) const;
  void deliver();

  Builder& builder_;
  const Grid& grid_;
  std::vector<Item> items_;
};

bool Exchange::is_row(const std::vector<Item>& items) const {
  if (items.size() > 1 && builder_.blocks_lie_apart() && items.front().place.row.buffer != schedule::Buffer::kScratch)
    return false;
  for (size_t i = 1; i < items.size(); ++i) {
    const Place& last = items[i - 1].place;
    const Place& next = items[i].place;
    if (!(last.row == next.row) || last.of != next.of || next.index != last.index + 1) return false;
  }
  return true;
}

Slice row_of(const std::vector<Item>& items) {
  const Place& first = items.front().place;
  return Builder::parts_of(first.row, first.index, first.index + static_cast<uint32_t>(items.size()), first.of);
}

void Exchange::begin() {
  const uint32_t neighbours = grid_.neighbours();
  // Of a single neighbour both are the same.
  if (is_alltoall()) {
    for (uint32_t k = 0; k < neighbours; ++k) items_.push_back({{k}, {builder_.input(), k, neighbours}});
    return;
  }
  Item own{std::vector<uint32_t>(neighbours), {builder_.input(), 0, 1}};
  std::iota(own.neighbours.begin(), own.neighbours.end(), 0u);
  items_.push_back(std::move(own));
}

// The same on all ranks.
std::vector<Group> Exchange::groups(uint32_t dimension) const {
  std::map<int32_t, Group> found;
  for (const Item& item : items_) {
    std::map<int32_t, Item> parts;
    for (const uint32_t k : item.neighbours) {
      Item& part = parts[steps(k, dimension)];
      part.place = item.place;
      part.neighbours.push_back(k);
    }
    for (auto& [steps, part] : parts) {
      found[steps].steps = steps;
      found[steps].items.push_back(std::move(part));
    }
  }
  std::vector<Group> all;
  for (auto& [steps, group] : found) all.push_back(std::move(group));
  return all;
}

// Of a group, what this rank has before `dimension`.
std::vector<Item> Exchange::of_those(const Group& group, uint32_t dimension) const {
  std::vector<Item> here;
  std::copy_if(group.items.begin(), group.items.end(), std::back_inserter(here),
               [&](const Item& item) { return passes_here(item, dimension); });
  return here;
}

// What is to be sent of each group: as it lies, or side by side in an area.
std::vector<Slice> Exchange::pack(const std::vector<std::vector<Item>>& outgoing, uint32_t dimension) {
  std::vector<uint64_t> numbers;
  for (const auto& items : outgoing)
    if (!is_row(items))
      for (const Item& item : items) numbers.push_back(number_of(item, dimension));
  const auto blocks = static_cast<uint32_t>(numbers.size());
  Slice room;
  if (blocks > 0) room = builder_.scratch_row(std::move(numbers));
  std::vector<Slice> packed;
  uint32_t next = 0;
  builder_.begin_stage();
  for (const auto& items : outgoing) {
    if (items.empty() || is_row(items)) {
      packed.push_back(items.empty() ? Slice{} : row_of(items));
      continue;
    }
    const uint32_t first = next;
    for (const Item& item : items) builder_.copy(item.place.slice(), Builder::part(room, next++, blocks));
    packed.push_back(Builder::parts_of(room, first, next, blocks));
  }
  builder_.end_stage();
  return packed;
}

// Whether they need an area, as they don't come to their end side by side.
bool Exchange::needs_room(const std::vector<Item>& items, uint32_t dimension) const {
  std::vector<Item> ends = items;
  for (Item& item : ends) {
    if (!is_there(item, dimension + 1)) return true;
    item.place = place_in(item.neighbours.front());
  }
  return !is_row(ends);
}

// Where they come to; their places become that. `room` is the next free place of the area.
Slice Exchange::make_room(std::vector<Item>& incoming, uint32_t dimension, Place& room) {
  const bool is_end = !needs_room(incoming, dimension);
  for (Item& item : incoming) {
    item.place = is_end ? place_in(item.neighbours.front()) : room;
    if (!is_end) ++room.index;
  }
  return row_of(incoming);
}

void Exchange::travel(uint32_t dimension) {
  std::vector<Group> all = groups(dimension);
  std::vector<Item> next;
  std::vector<std::vector<Item>> outgoing, incoming;
  std::vector<int32_t> steps;
  std::vector<uint64_t> numbers;  // of what comes into an area
  for (const Group& group : all) {
    // What stays has no way to go; ranks that it isn't at need not know.
    if (group.steps == 0) {
      next.insert(next.end(), group.items.begin(), group.items.end());
      continue;
    }
    steps.push_back(group.steps);
    outgoing.push_back(of_those(group, dimension));
    incoming.push_back(of_those(group, dimension + 1));
    if (needs_room(incoming.back(), dimension))
      for (const Item& item : incoming.back()) numbers.push_back(number_of(item, dimension + 1));
  }
  const std::vector<Slice> packed = pack(outgoing, dimension);
  Place room;
  room.of = static_cast<uint32_t>(numbers.size());
  if (room.of > 0) room.row = builder_.scratch_row(std::move(numbers));
  builder_.begin_stage();
  for (size_t i = 0; i < steps.size(); ++i)
    if (!outgoing[i].empty()) builder_.send(grid_.along(rank(), dimension, steps[i]), packed[i]);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (incoming[i].empty()) continue;
    const Slice place = make_room(incoming[i], dimension, room);
    builder_.receive(grid_.along(rank(), dimension, -steps[i]), place);
    next.insert(next.end(), incoming[i].begin(), incoming[i].end());
  }
  builder_.end_stage();
  // Those that are elsewhere stay in the list, so that it is the same on all ranks.
  for (const Group& group : all) {
    if (group.steps == 0) continue;
    for (const Item& item : group.items)
      if (!passes_here(item, dimension + 1)) next.push_back({item.neighbours, {}});
  }
  std::sort(next.begin(), next.end(),
            [](const Item& a, const Item& b) { return a.neighbours.front() < b.neighbours.front(); });
  items_ = std::move(next);
}

void Exchange::deliver() {
  builder_.begin_stage();
  for (const Item& item : items_)
    for (const uint32_t k : item.neighbours)
      if (passes_here(k, grid_.dimensions())) builder_.copy(item.place.slice(), place_in(k).slice());
  builder_.end_stage();
}

}  // namespace

void exchange_by_dimension(Builder& builder) { Exchange(builder).run(); }

LengthsTold tell_lengths_by_dimension(const schedule::Neighbours& neighbours) {
  const Grid& grid = *neighbours.grid();
  LengthsTold told;
  std::vector<int32_t> offsets;
  for (uint32_t k = 0; k < grid.neighbours(); ++k) {
    // Beyond the last dimension with a step the block has arrived, at who knows its length.
    std::vector<int32_t> way(grid.dimensions());
    uint32_t end = grid.dimensions();
    while (end > 0 && grid.offset(k)[end - 1] == 0) --end;
    for (uint32_t d = 0; d + 1 < end; ++d) {
      if (grid.offset(k)[d] == 0) continue;
      way[d] = grid.offset(k)[d];
      offsets.insert(offsets.end(), way.begin(), way.end());
      told.of.push_back(k);
    }
  }
  if (told.of.empty()) return told;
  auto among = schedule::Neighbours::of_stencil(grid.lengths, grid.is_periodic, std::move(offsets), neighbours.ranks());
  HOCKET_ASSERT(among.is_ok(), "the grid has served already");
  told.among = among.take();
  return told;
}

std::string_view why_not_by_dimension(const schedule::Neighbours& neighbours, const schedule::Nodes* /*nodes*/) {
  if (neighbours.grid() == nullptr) return "no grid is known on which all ranks have the same neighbours";
  return neighbours.grid()->dimensions() > kMostDimensions ? "the grid has more dimensions than it can go along" : "";
}

}  // namespace hocket::algorithms
