// SPDX-License-Identifier: BSD-3-Clause
#include "support/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hocket::test {
namespace {

using schedule::Collective;
using Part = NeighbourhoodPart;
using Kind = NeighbourhoodKind;

// --- neighbourhoods --------------------------------------------------------------------------------------------------

// Of `rank` in a graph that is known by its destinations: the k-th block to a rank is the k-th that this one gets from
// there. Sources are in the order of `turned` ranks, so that lists aren't sorted.
Part part_of(const std::function<std::vector<int>(int)>& destinations_of, int rank, int size) {
  Part part;
  part.destinations = destinations_of(rank);
  for (int i = 0; i < size; ++i) {
    const int source = (i + rank) % size;
    const std::vector<int> theirs = destinations_of(source);
    for (int k = 0; k < static_cast<int>(theirs.size()); ++k)
      if (theirs[static_cast<size_t>(k)] == rank) part.origins.push_back({source, k});
  }
  return part;
}

// Nobody for some, several times the same for others, themselves for some.
std::vector<int> odd_destinations(int rank, int size) {
  if (rank % 4 == 3) return {};
  std::vector<int> all;
  for (int i = 0; i < 2 + rank % 3; ++i) all.push_back((rank * 2 + i * i) % size);
  all.push_back((rank + 1) % size);
  all.push_back(rank);
  all.push_back((rank + 1) % size);
  return all;
}
std::vector<int> nobody(int /*rank*/, int /*size*/) { return {}; }
std::vector<int> all_of_them(int /*rank*/, int size) {
  std::vector<int> all;
  for (int i = 0; i < size; ++i) all.push_back(i);
  return all;
}

struct TestGrid {
  std::vector<int> lengths;
  std::vector<int> periodic;
  std::vector<int> offsets;  // none: a grid with neighbours below and above

  int dimensions() const { return static_cast<int>(lengths.size()); }
  // The rank that is `sign` times these offsets away.
  int at(int rank, const int* steps, int sign) const {
    int result = 0;
    int stride = 1;
    for (int d = dimensions() - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      int to = rank % lengths[i] + sign * steps[d];
      rank /= lengths[i];
      if (periodic[i] != 0) to = (to % lengths[i] + lengths[i]) % lengths[i];
      if (to < 0 || to >= lengths[i]) return HOCKET_NO_RANK;
      result += to * stride;
      stride *= lengths[i];
    }
    return result;
  }
};

Part part_of(const TestGrid& grid, int rank) {
  Part part;
  const int dimensions = grid.dimensions();
  if (!grid.offsets.empty()) {
    for (int k = 0; k < static_cast<int>(grid.offsets.size()) / dimensions; ++k) {
      const int* const steps = &grid.offsets[static_cast<size_t>(k * dimensions)];
      part.destinations.push_back(grid.at(rank, steps, 1));
      part.origins.push_back({grid.at(rank, steps, -1), k});
    }
    return part;
  }
  for (int d = 0; d < dimensions; ++d) {
    std::vector<int> up(static_cast<size_t>(dimensions));
    up[static_cast<size_t>(d)] = 1;
    const int below = grid.at(rank, up.data(), -1);
    const int above = grid.at(rank, up.data(), 1);
    part.destinations.insert(part.destinations.end(), {below, above});
    // What the one below has given upwards, and the one above downwards.
    part.origins.push_back({below, 2 * d + 1});
    part.origins.push_back({above, 2 * d});
  }
  return part;
}

Kind of_lists(const std::string& name, std::vector<int> (*destinations_of)(int, int)) {
  return {name, [destinations_of](Rank& me, Part& part) {
            part = part_of([&](int rank) { return destinations_of(rank, me.size); }, me.rank, me.size);
            const std::vector<int> sources = part.sources();
            hocket_neighbourhood_t* made = nullptr;
            EXPECT_EQ(hocket_neighbourhood_create(me.comm, static_cast<int>(sources.size()), sources.data(),
                                                  static_cast<int>(part.destinations.size()), part.destinations.data(),
                                                  &made),
                      HOCKET_OK)
                << hocket_error_text();
            return made;
          }};
}

Kind of_grid(const std::string& name, std::function<TestGrid(int)> grid_of) {
  return {name, [grid_of](Rank& me, Part& part) {
            const TestGrid grid = grid_of(me.size);
            part = part_of(grid, me.rank);
            hocket_neighbourhood_t* made = nullptr;
            const hocket_status_t status =
                grid.offsets.empty()
                    ? hocket_neighbourhood_create_grid(me.comm, grid.dimensions(), grid.lengths.data(),
                                                       grid.periodic.data(), &made)
                    : hocket_neighbourhood_create_stencil(
                          me.comm, grid.dimensions(), grid.lengths.data(), grid.periodic.data(),
                          static_cast<int>(grid.offsets.size()) / grid.dimensions(), grid.offsets.data(), &made);
            EXPECT_EQ(status, HOCKET_OK) << hocket_error_text();
            return made;
          }};
}

// Two rows where that goes.
std::vector<int> rows_of(int size) { return size % 2 == 0 ? std::vector{2, size / 2} : std::vector{1, size}; }

// --- calls -----------------------------------------------------------------------------------------------------------

// Element `i` of what a rank has for its k-th destination.
int64_t element(int rank, int k, size_t i) { return rank * 1'000'003 + k * 1009 + static_cast<int64_t>(i); }
constexpr int64_t kUntouched = -7;
// Of a block that the k-th destination of a rank gets, where they differ; some have nothing.
size_t length_of(int rank, int k, size_t count) { return (rank + k) % 3 == 0 ? 0 : count + static_cast<size_t>(k % 2); }

struct Typed {
  template <typename Kind>
  Typed(const std::vector<size_t>& lengths, const std::vector<size_t>& at, const Kind& kind_of) {
    for (size_t k = 0; k < lengths.size(); ++k) {
      const bool in_bytes = kind_of(k) % 2 == 0;
      counts.push_back(in_bytes ? lengths[k] * sizeof(int64_t) : lengths[k]);
      displacements.push_back(at[k] * sizeof(int64_t));
      types.push_back(in_bytes ? HOCKET_BYTE : HOCKET_INT64);
    }
  }
  std::vector<size_t> counts, displacements;
  std::vector<hocket_type_t> types;
};

void lay_blocks(const std::vector<size_t>& lengths, std::vector<size_t>& at, bool apart, std::vector<int64_t>& buffer) {
  at.resize(lengths.size());
  size_t end = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const size_t k = apart ? lengths.size() - 1 - i : i;
    at[k] = end;
    end += lengths[k] + (apart ? 3 : 0);
  }
  buffer.assign(end, kUntouched);
}

}  // namespace

std::vector<int> NeighbourhoodPart::sources() const {
  std::vector<int> ranks;
  for (const Origin& one : origins) ranks.push_back(one.rank);
  return ranks;
}

Kind ring_of_neighbours() {
  return of_grid("ring", [](int size) { return TestGrid{{size}, {1}, {}}; });
}

Kind odd_neighbours() { return of_lists("odd lists", odd_destinations); }

std::vector<Kind> neighbourhood_kinds() {
  const std::vector<int> around = {-1, -1, -1, 0, -1, 1, 0, -1, 0, 0, 0, 1, 1, -1, 1, 0, 1, 1, 1, 1, 0, 3};
  return {odd_neighbours(),
          of_lists("nobody", nobody),
          of_lists("all of them", all_of_them),
          ring_of_neighbours(),
          of_grid("rows", [](int size) { return TestGrid{rows_of(size), {1, 0}, {}}; }),
          of_grid("around on a torus", [around](int size) { return TestGrid{rows_of(size), {1, 1}, around}; }),
          of_grid("around with edges", [around](int size) { return TestGrid{rows_of(size), {0, 1}, around}; })};
}

NeighborCall::NeighborCall(Collective collective, const Part& part, int rank, size_t count)
    : collective_(collective), part_(part), rank_(rank), count_(count) {
  const bool varies = schedule::is_vector(collective);
  const auto length = [&](int source, int k) { return varies ? length_of(source, k, count) : count; };
  for (int k = 0; k < static_cast<int>(is_one() ? 1 : part.destinations.size()); ++k) given_.push_back(length(rank, k));
  for (const Origin& one : part.origins)
    taken_.push_back(one.rank == HOCKET_NO_RANK ? count : length(one.rank, is_one() ? 0 : one.block));
  // Vector versions: the last block first, with a gap.
  lay_blocks(given_, given_at_, varies && !is_one(), input_);
  lay_blocks(taken_, taken_at_, varies, output_);
  renew(0);
}

void NeighborCall::renew(int64_t salt) {
  salt_ = salt;
  std::fill(output_.begin(), output_.end(), kUntouched);
  for (size_t k = 0; k < given_.size(); ++k)
    for (size_t i = 0; i < given_[k]; ++i) input_[given_at_[k] + i] = element(rank_, static_cast<int>(k), i) + salt;
}

hocket_status_t NeighborCall::run(hocket_neighbourhood_t* neighbourhood) {
  switch (collective_) {
    case Collective::kNeighborAllgather:
      return hocket_neighbor_allgather(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64);
    case Collective::kNeighborAllgatherv:
      return hocket_neighbor_allgatherv(neighbourhood, input_.data(), given_[0], output_.data(), taken_.data(),
                                        taken_at_.data(), HOCKET_INT64);
    case Collective::kNeighborAlltoall:
      return hocket_neighbor_alltoall(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64);
    default:
      return hocket_neighbor_alltoallv(neighbourhood, input_.data(), given_.data(), given_at_.data(), output_.data(),
                                       taken_.data(), taken_at_.data(), HOCKET_INT64);
  }
}
hocket_status_t NeighborCall::start(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request) {
  // The arrays may go once the call has started.
  const std::vector<size_t> given = given_, given_at = given_at_, taken = taken_, taken_at = taken_at_;
  switch (collective_) {
    case Collective::kNeighborAllgather:
      return hocket_neighbor_allgather_start(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64,
                                             request);
    case Collective::kNeighborAllgatherv:
      return hocket_neighbor_allgatherv_start(neighbourhood, input_.data(), given[0], output_.data(), taken.data(),
                                              taken_at.data(), HOCKET_INT64, request);
    case Collective::kNeighborAlltoall:
      return hocket_neighbor_alltoall_start(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64,
                                            request);
    default:
      return hocket_neighbor_alltoallv_start(neighbourhood, input_.data(), given.data(), given_at.data(),
                                             output_.data(), taken.data(), taken_at.data(), HOCKET_INT64, request);
  }
}
hocket_status_t NeighborCall::plan(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request) {
  // The arrays may go at once.
  const std::vector<size_t> given = given_, given_at = given_at_, taken = taken_, taken_at = taken_at_;
  switch (collective_) {
    case Collective::kNeighborAllgather:
      return hocket_neighbor_allgather_init(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64,
                                            request);
    case Collective::kNeighborAllgatherv:
      return hocket_neighbor_allgatherv_init(neighbourhood, input_.data(), given[0], output_.data(), taken.data(),
                                             taken_at.data(), HOCKET_INT64, request);
    case Collective::kNeighborAlltoall:
      return hocket_neighbor_alltoall_init(neighbourhood, input_.data(), output_.data(), count_, HOCKET_INT64, request);
    default:
      return hocket_neighbor_alltoallv_init(neighbourhood, input_.data(), given.data(), given_at.data(), output_.data(),
                                            taken.data(), taken_at.data(), HOCKET_INT64, request);
  }
}
hocket_status_t NeighborCall::plan_by_types(hocket_neighbourhood_t* neighbourhood, hocket_request_t** request) {
  const Typed given(given_, given_at_, [&](size_t k) { return rank_ + static_cast<int>(k); });
  const Typed taken(taken_, taken_at_, [&](size_t k) { return part_.origins[k].rank + part_.origins[k].block; });
  return hocket_neighbor_alltoallw_init(neighbourhood, input_.data(), given.counts.data(), given.displacements.data(),
                                        given.types.data(), output_.data(), taken.counts.data(),
                                        taken.displacements.data(), taken.types.data(), request);
}
hocket_status_t NeighborCall::run_by_types(hocket_neighbourhood_t* neighbourhood) {
  const Typed given(given_, given_at_, [&](size_t k) { return rank_ + static_cast<int>(k); });
  const Typed taken(taken_, taken_at_, [&](size_t k) { return part_.origins[k].rank + part_.origins[k].block; });
  return hocket_neighbor_alltoallw(neighbourhood, input_.data(), given.counts.data(), given.displacements.data(),
                                   given.types.data(), output_.data(), taken.counts.data(), taken.displacements.data(),
                                   taken.types.data());
}

std::string NeighborCall::problem() const {
  std::vector<int64_t> expected(output_.size(), kUntouched);
  for (size_t slot = 0; slot < part_.origins.size(); ++slot) {
    const Origin& from = part_.origins[slot];
    if (from.rank == HOCKET_NO_RANK) continue;
    for (size_t i = 0; i < taken_[slot]; ++i)
      expected[taken_at_[slot] + i] = element(from.rank, is_one() ? 0 : from.block, i) + salt_;
  }
  const auto [wrong, wanted] = std::mismatch(output_.begin(), output_.end(), expected.begin());
  if (wrong == output_.end()) return {};
  return "element " + std::to_string(wrong - output_.begin()) + " is " + std::to_string(*wrong) + " instead of " +
         std::to_string(*wanted);
}

}  // namespace hocket::test
