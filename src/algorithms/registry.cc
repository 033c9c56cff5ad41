// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {

constexpr const Algorithm* kAll[] = {
#define HOCKET_ALGORITHM(object) &object,
#include "algorithms/algorithms.def"
};

constexpr const Algorithm* kAllAmongNeighbors[] = {
#define HOCKET_NEIGHBOR_ALGORITHM(object) &object,
#include "algorithms/algorithms.def"
};

}  // namespace

std::span<const Algorithm* const> all() { return kAll; }
std::span<const Algorithm* const> all_among_neighbors() { return kAllAmongNeighbors; }
std::span<const Algorithm* const> all_of(schedule::Collective collective) {
  return schedule::is_among_neighbors(collective) ? all_among_neighbors() : all();
}

uint32_t number_of(const Algorithm& algorithm) {
  uint32_t number = 0;
  for (const auto list : {all(), all_among_neighbors()})
    for (const Algorithm* one : list)
      if (++number; one == &algorithm) return number;
  return 0;
}

const Algorithm* find(schedule::Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : all_of(collective)) {
    if (algorithm->collective == schedule::base_of(collective) && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

}  // namespace hocket::algorithms
