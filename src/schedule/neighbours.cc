// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/neighbours.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "schedule/grid_recognition.h"

namespace hocket::schedule {
namespace {

Status invalid(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

std::string rank_text(uint32_t rank) { return "rank " + std::to_string(rank); }

// One block that passes between two ranks, as one of them tells.
struct Told {
  uint32_t source;
  uint32_t destination;
  uint32_t place;  // in the list of who tells

  bool is_before(const Told& other) const {
    return std::tie(source, destination, place) < std::tie(other.source, other.destination, other.place);
  }
  bool same_pair(const Told& other) const { return source == other.source && destination == other.destination; }
};

void sort(std::vector<Told>& told) {
  std::sort(told.begin(), told.end(), [](const Told& a, const Told& b) { return a.is_before(b); });
}

uint64_t count_pair(const std::vector<Told>& told, const Told& pair) {
  return static_cast<uint64_t>(
      std::count_if(told.begin(), told.end(), [&](const Told& one) { return one.same_pair(pair); }));
}

Status check_grid(const Grid& grid, uint32_t ranks) {
  if (grid.is_periodic.size() != grid.lengths.size())
    return invalid("a grid of " + std::to_string(grid.lengths.size()) + " dimensions says of " +
                   std::to_string(grid.is_periodic.size()) + " whether they are periodic");
  uint64_t points = 1;
  for (const uint32_t length : grid.lengths) {
    if (length == 0) return invalid("a dimension of a grid is 0 long; it is 1 or longer");
    points = std::min<uint64_t>(points * length, std::numeric_limits<uint32_t>::max());
  }
  if (points == ranks) return Status::ok();
  return invalid("the grid has " + std::to_string(points) + " points, and there are " + std::to_string(ranks) +
                 " ranks; it must have one for each");
}

}  // namespace

// --- grids -----------------------------------------------------------------------------------------------------------

uint32_t Grid::along(uint32_t rank, uint32_t dimension, int32_t steps) const {
  uint64_t stride = 1;
  for (uint32_t d = dimension + 1; d < dimensions(); ++d) stride *= lengths[d];
  const int64_t length = lengths[dimension];
  const auto from = static_cast<int64_t>(rank / stride % lengths[dimension]);
  int64_t to = from + steps;
  if (is_periodic[dimension]) to = (to % length + length) % length;
  if (to < 0 || to >= length) return kNoRank;
  return static_cast<uint32_t>(static_cast<int64_t>(rank) + (to - from) * static_cast<int64_t>(stride));
}

uint32_t Grid::at(uint32_t rank, uint32_t k, int sign) const {
  const std::span<const int32_t> steps = offset(k);
  for (uint32_t d = 0; d < dimensions() && rank != kNoRank; ++d) rank = along(rank, d, sign * steps[d]);
  return rank;
}

// --- graphs ----------------------------------------------------------------------------------------------------------

void Neighbours::Side::add(std::span<const uint32_t> more) {
  peers.insert(peers.end(), more.begin(), more.end());
  begins.push_back(peers.size());
  most = std::max(most, static_cast<uint32_t>(more.size()));
}

// The k-th block that one says passes between two is the k-th that the other one says.
Status Neighbours::match() {
  std::vector<Told> given;
  std::vector<Told> taken;
  for (uint32_t rank = 0; rank < ranks(); ++rank) {
    const std::span<const uint32_t> to = destinations(rank);
    const std::span<const uint32_t> from = sources(rank);
    for (uint32_t k = 0; k < to.size(); ++k) given.push_back({rank, to[k], k});
    for (uint32_t k = 0; k < from.size(); ++k) taken.push_back({from[k], rank, k});
  }
  sort(given);
  sort(taken);
  for (size_t i = 0; i < std::max(given.size(), taken.size()); ++i) {
    const bool agree = i < given.size() && i < taken.size() && given[i].same_pair(taken[i]);
    if (agree) {
      destinations_.places[destinations_.begins[given[i].source] + given[i].place] = taken[i].place;
      sources_.places[sources_.begins[taken[i].destination] + taken[i].place] = given[i].place;
      continue;
    }
    // The pair that comes first is told of more often by who tells of it here.
    const bool is_given =
        i >= taken.size() || (i < given.size() && std::tie(given[i].source, given[i].destination) <
                                                      std::tie(taken[i].source, taken[i].destination));
    const Told& pair = is_given ? given[i] : taken[i];
    return invalid("blocks from " + rank_text(pair.source) + " to " + rank_text(pair.destination) + ": " +
                   std::to_string(count_pair(given, pair)) + " by the destinations of the first, " +
                   std::to_string(count_pair(taken, pair)) + " by the sources of the other; both must say the same");
  }
  return Status::ok();
}

Result<std::shared_ptr<const Neighbours>> Neighbours::of_lists(std::span<const Lists> lists) {
  std::shared_ptr<Neighbours> made(new Neighbours);
  for (uint32_t rank = 0; rank < lists.size(); ++rank) {
    for (const auto* list : {&lists[rank].sources, &lists[rank].destinations}) {
      const auto wrong = std::find_if(list->begin(), list->end(), [&](uint32_t peer) { return peer >= lists.size(); });
      if (wrong == list->end()) continue;
      const std::string what = list == &lists[rank].sources ? "source" : "destination";
      return invalid(what + " " + std::to_string(wrong - list->begin()) + " of " + rank_text(rank) + " is rank " +
                     std::to_string(static_cast<int32_t>(*wrong)) + ", and there are " + std::to_string(lists.size()) +
                     " ranks");
    }
    made->sources_.add(lists[rank].sources);
    made->destinations_.add(lists[rank].destinations);
  }
  made->sources_.places.resize(made->sources_.peers.size());
  made->destinations_.places.resize(made->destinations_.peers.size());
  HOCKET_TRY(made->match());
  made->grid_ = recognised_grid(*made);
  return std::shared_ptr<const Neighbours>(std::move(made));
}

Result<std::shared_ptr<const Neighbours>> Neighbours::on_grid(Grid grid, uint32_t ranks) {
  HOCKET_TRY(check_grid(grid, ranks));
  const uint32_t neighbours = grid.neighbours();
  std::vector<uint32_t> origins(neighbours);
  for (uint32_t k = 0; k < neighbours; ++k) origins[grid.slots[k]] = k;
  std::shared_ptr<Neighbours> made(new Neighbours);
  std::vector<uint32_t> peers(neighbours);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (uint32_t k = 0; k < neighbours; ++k) peers[k] = grid.at(rank, k, 1);
    made->destinations_.add(peers);
    made->destinations_.places.insert(made->destinations_.places.end(), grid.slots.begin(), grid.slots.end());
    for (uint32_t slot = 0; slot < neighbours; ++slot) peers[slot] = grid.at(rank, origins[slot], -1);
    made->sources_.add(peers);
    made->sources_.places.insert(made->sources_.places.end(), origins.begin(), origins.end());
  }
  made->grid_ = std::make_unique<const Grid>(std::move(grid));
  return std::shared_ptr<const Neighbours>(std::move(made));
}

Result<std::shared_ptr<const Neighbours>> Neighbours::of_grid(std::vector<uint32_t> lengths,
                                                              std::vector<bool> is_periodic, uint32_t ranks) {
  Grid grid{std::move(lengths), std::move(is_periodic), {}, {}};
  for (uint32_t dimension = 0; dimension < grid.dimensions(); ++dimension) {
    for (const int32_t step : {-1, 1}) {
      for (uint32_t d = 0; d < grid.dimensions(); ++d) grid.offsets.push_back(d == dimension ? step : 0);
      // What goes down comes from above.
      grid.slots.push_back(2 * dimension + (step < 0 ? 1 : 0));
    }
  }
  return on_grid(std::move(grid), ranks);
}

Result<std::shared_ptr<const Neighbours>> Neighbours::of_stencil(std::vector<uint32_t> lengths,
                                                                 std::vector<bool> is_periodic,
                                                                 std::vector<int32_t> offsets, uint32_t ranks) {
  Grid grid{std::move(lengths), std::move(is_periodic), std::move(offsets), {}};
  if (grid.dimensions() == 0) return invalid("a stencil lies on a grid of 1 dimension or more, not of 0");
  if (grid.offsets.size() % grid.dimensions() != 0)
    return invalid("a stencil has " + std::to_string(grid.offsets.size()) + " numbers, which are no offsets in " +
                   std::to_string(grid.dimensions()) + " dimensions");
  for (uint32_t k = 0; k < grid.offsets.size() / grid.dimensions(); ++k) grid.slots.push_back(k);
  return on_grid(std::move(grid), ranks);
}

}  // namespace hocket::schedule
