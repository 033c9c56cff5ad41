// SPDX-License-Identifier: BSD-3-Clause
// Who is whose neighbour: for each rank the ranks that it gets a block from (its sources) and gives one to (its
// destinations), in its own order. A rank may be several times among another's neighbours, and its own neighbour.
//
// A block that is the k-th of a rank's destinations arrives as one of the destination's sources; which one is part of
// the graph. In a graph of lists the k-th block from one rank to another is the k-th that the other one gets from it,
// as in MPI's distributed graphs. On a grid it goes by direction: what a rank gives to its lower neighbour comes from
// the higher one, as in MPI's Cartesian topologies (MPI 4.1, section 8.6), also where these two are the same rank.
//
// Thread safety: immutable once made.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace hocket::schedule {

// Instead of a neighbour beyond the edge of a grid: nothing is given there, and nothing comes.
inline constexpr uint32_t kNoRank = 0xffffffffu;

// Ranks at the points of a grid, the last dimension counted first, all with neighbours at the same offsets.
struct Grid {
  std::vector<uint32_t> lengths;
  std::vector<bool> is_periodic;
  // Of the k-th destination, by dimension: offsets[k * dimensions() + d].
  std::vector<int32_t> offsets;
  // Which of the destination's sources its k-th block is, on every rank.
  std::vector<uint32_t> slots;

  uint32_t dimensions() const { return static_cast<uint32_t>(lengths.size()); }
  uint32_t neighbours() const { return static_cast<uint32_t>(slots.size()); }
  std::span<const int32_t> offset(uint32_t k) const {
    return std::span(offsets).subspan(size_t{k} * dimensions(), dimensions());
  }
  // Of the point `steps` further along one dimension, kNoRank beyond an edge.
  uint32_t along(uint32_t rank, uint32_t dimension, int32_t steps) const;
  // `sign` times the offset of the k-th neighbour away.
  uint32_t at(uint32_t rank, uint32_t k, int sign) const;
};

class Neighbours {
 public:
  // What a rank says of itself.
  struct Lists {
    std::vector<uint32_t> sources;
    std::vector<uint32_t> destinations;
  };
  // By rank. Not ok, the same for the same lists: a rank that doesn't exist, or two ranks who disagree about how many
  // blocks pass between them.
  static Result<std::shared_ptr<const Neighbours>> of_lists(std::span<const Lists> lists);
  // As many ranks as the grid has points. The neighbours are one step down and one up each dimension.
  static Result<std::shared_ptr<const Neighbours>> of_grid(std::vector<uint32_t> lengths, std::vector<bool> is_periodic,
                                                           uint32_t ranks);
  // The neighbours are at these offsets, one dimension after the other; the k-th source is where this rank is the k-th
  // destination.
  static Result<std::shared_ptr<const Neighbours>> of_stencil(std::vector<uint32_t> lengths,
                                                              std::vector<bool> is_periodic,
                                                              std::vector<int32_t> offsets, uint32_t ranks);

  uint32_t ranks() const { return static_cast<uint32_t>(sources_.begins.size() - 1); }
  std::span<const uint32_t> sources(uint32_t rank) const { return sources_.of(rank, sources_.peers); }
  std::span<const uint32_t> destinations(uint32_t rank) const { return destinations_.of(rank, destinations_.peers); }
  // Of each destination: which of its sources the block is. Of each source: which of its destinations. Nothing of
  // kNoRank.
  std::span<const uint32_t> slots(uint32_t rank) const { return destinations_.of(rank, destinations_.places); }
  std::span<const uint32_t> origins(uint32_t rank) const { return sources_.of(rank, sources_.places); }
  // Every block of the graph has a number: the k-th of a rank's destinations, and the k-th of its sources.
  uint64_t number_out(uint32_t rank, uint32_t k) const { return destinations_.begins[rank] + k; }
  uint64_t number_in(uint32_t rank, uint32_t k) const { return number_out(sources(rank)[k], origins(rank)[k]); }
  uint64_t blocks() const { return destinations_.begins.back(); }
  // Of any rank.
  uint32_t most_sources() const { return sources_.most; }
  uint32_t most_destinations() const { return destinations_.most; }
  // nullptr: no grid is known that the ranks would lie on. Of lists, one that was found again (grid_recognition.h).
  const Grid* grid() const { return grid_.get(); }

 private:
  struct Side {
    std::vector<uint64_t> begins = {0};  // of each rank's, and the end
    std::vector<uint32_t> peers;
    std::vector<uint32_t> places;
    uint32_t most = 0;

    std::span<const uint32_t> of(uint32_t rank, const std::vector<uint32_t>& all) const {
      return std::span(all).subspan(begins[rank], begins[rank + 1] - begins[rank]);
    }
    void add(std::span<const uint32_t> more);
  };
  Neighbours() = default;
  static Result<std::shared_ptr<const Neighbours>> on_grid(Grid grid, uint32_t ranks);
  Status match();

  Side sources_;
  Side destinations_;
  std::unique_ptr<const Grid> grid_;
};

}  // namespace hocket::schedule
