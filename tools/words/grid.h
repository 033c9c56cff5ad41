// SPDX-License-Identifier: BSD-3-Clause
// Ranks on a grid, and who their neighbours are: `--grid 4x2 --periodic yes,no --stencil full`.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/neighbours.h"

namespace hocket::command {

// As on the command line.
struct GridWords {
  std::string lengths;  // "": two dimensions
  std::string periodic = "yes";
  std::string stencil = "faces";

  bool is_given() const { return !lengths.empty(); }
  // It says by itself how many ranks there are.
  bool has_points() const { return is_given() && !lengths.ends_with('d'); }
};

struct GridShape {
  std::vector<uint32_t> lengths;
  std::vector<bool> is_periodic;
  bool is_full = false;  // with diagonal neighbours; else one step down and one up each dimension

  uint32_t dimensions() const { return static_cast<uint32_t>(lengths.size()); }
  uint32_t points() const;
  // Of every neighbour of a full stencil, dimension by dimension.
  std::vector<int32_t> offsets() const;
  // "4x2", "yes" or "yes,no", "faces".
  GridWords words() const;
};

// `ranks`: as many as there are, or 0; in the end as many as the grid has points. Errors name the option.
Result<GridShape> read_grid(const GridWords& words, uint32_t& ranks);

Result<std::shared_ptr<const schedule::Neighbours>> neighbours_on(const GridShape& grid);
// Whoever is there, as lists: what graphs of MPI are made of.
Result<std::shared_ptr<const schedule::Neighbours>> listed_neighbours_on(const GridShape& grid);

}  // namespace hocket::command
