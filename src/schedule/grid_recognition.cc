// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/grid_recognition.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace hocket::schedule {
namespace {

constexpr size_t kMostDimensions = 4;

// visit(lengths) of all ways to make `ranks` points of dimensions of 2 or more.
void each_torus(uint32_t ranks, std::vector<uint32_t>& lengths,
                const std::function<void(const std::vector<uint32_t>&)>& visit) {
  if (ranks == 1) return visit(lengths);
  if (lengths.size() == kMostDimensions) return;
  for (uint32_t length = 2; length <= ranks; ++length) {
    if (ranks % length != 0) continue;
    lengths.push_back(length);
    each_torus(ranks / length, lengths, visit);
    lengths.pop_back();
  }
}

// How far `to` is from `from`, by dimension, as a number that is the same for equal ways; the last dimension first.
uint32_t way(const std::vector<uint32_t>& lengths, uint32_t from, uint32_t to) {
  uint32_t number = 0;
  uint32_t stride = 1;
  for (size_t d = lengths.size(); d-- > 0;) {
    const uint32_t length = lengths[d];
    number += (to % length + length - from % length) % length * stride;
    stride *= length;
    from /= length;
    to /= length;
  }
  return number;
}

// Whether all ranks have their neighbours, and their neighbours' blocks, where rank 0 has them.
bool is_alike(const Neighbours& neighbours, const std::vector<uint32_t>& lengths) {
  const auto first = neighbours.destinations(0);
  for (uint32_t rank = 1; rank < neighbours.ranks(); ++rank) {
    const auto own = neighbours.destinations(rank);
    for (size_t k = 0; k < own.size(); ++k)
      if (way(lengths, rank, own[k]) != way(lengths, 0, first[k])) return false;
  }
  return true;
}

bool have_same_places(const Neighbours& neighbours) {
  const auto first = neighbours.slots(0);
  for (uint32_t rank = 0; rank < neighbours.ranks(); ++rank) {
    const auto own = neighbours.slots(rank);
    if (!std::equal(own.begin(), own.end(), first.begin(), first.end())) return false;
    if (neighbours.sources(rank).size() != first.size()) return false;
  }
  return true;
}

Grid torus_of(const Neighbours& neighbours, const std::vector<uint32_t>& lengths) {
  const auto slots = neighbours.slots(0);
  Grid grid{lengths, std::vector<bool>(lengths.size(), true), {}, {slots.begin(), slots.end()}};
  for (const uint32_t peer : neighbours.destinations(0)) {
    std::vector<int32_t> offset(lengths.size());
    uint32_t rest = peer;
    for (size_t d = lengths.size(); d-- > 0; rest /= lengths[d]) {
      const auto steps = static_cast<int32_t>(rest % lengths[d]);
      const auto length = static_cast<int32_t>(lengths[d]);
      offset[d] = 2 * steps > length ? steps - length : steps;
    }
    grid.offsets.insert(grid.offsets.end(), offset.begin(), offset.end());
  }
  return grid;
}

// Messages that go along one dimension after the other.
size_t count_steps(const Grid& grid) {
  size_t count = 0;
  for (uint32_t d = 0; d < grid.dimensions(); ++d) {
    std::set<int32_t> different;
    for (uint32_t k = 0; k < grid.neighbours(); ++k) different.insert(grid.offset(k)[d]);
    different.erase(0);
    count += different.size();
  }
  return count;
}

}  // namespace

std::unique_ptr<const Grid> recognised_grid(const Neighbours& neighbours) {
  std::unique_ptr<const Grid> best;
  size_t fewest = neighbours.ranks() == 0 ? 0 : neighbours.destinations(0).size();
  if (fewest < 2 || !have_same_places(neighbours)) return nullptr;
  std::vector<uint32_t> lengths;
  each_torus(neighbours.ranks(), lengths, [&](const std::vector<uint32_t>& torus) {
    if (!is_alike(neighbours, torus)) return;
    Grid grid = torus_of(neighbours, torus);
    const size_t steps = count_steps(grid);
    if (steps >= fewest) return;
    fewest = steps;
    best = std::make_unique<const Grid>(std::move(grid));
  });
  return best;
}

}  // namespace hocket::schedule
