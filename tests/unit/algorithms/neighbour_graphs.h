// SPDX-License-Identifier: BSD-3-Clause
// Graphs of neighbours to try: every small grid, stencils, and whatever a seed says.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "schedule/neighbours.h"

namespace hocket::algorithms {

struct Graph {
  std::string name;
  std::shared_ptr<const schedule::Neighbours> neighbours;
};

// One to three dimensions of 1 to `longest` points, each periodic or not.
std::vector<Graph> small_grids(uint32_t longest);
// The same with all neighbours around a point, itself too, and with offsets that are drawn, some twice and some far.
std::vector<Graph> small_stencils(uint32_t longest, std::mt19937& random);
// Of small tori, all neighbours around a point in lists, the sources in some order that is the same on all ranks.
std::vector<Graph> lists_of_tori(uint32_t longest, std::mt19937& random);
// Up to `most` ranks, of whom some have nobody, and some each other or themselves several times.
Graph random_graph(uint32_t most, std::mt19937& random);

}  // namespace hocket::algorithms
