// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/registered.h"

namespace hocket::algorithms {
namespace {

constexpr const Algorithm* kAll[] = {
#define HOCKET_ALGORITHM(object) &object,
#include "algorithms/algorithms.def"
#undef HOCKET_ALGORITHM
};

}  // namespace

std::span<const Algorithm* const> all() { return kAll; }

const Algorithm* find(schedule::Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : kAll) {
    if (algorithm->collective == schedule::base_of(collective) && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

}  // namespace hocket::algorithms
