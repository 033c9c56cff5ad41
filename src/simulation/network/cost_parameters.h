// SPDX-License-Identifier: BSD-3-Clause
// What the cost model knows of a machine: the numbers of a tuning table's `model` line, which cost_parameters.def
// describes.
//
// Thread safety: a value, and a constant table.
#pragma once

#include <cstdint>

namespace hocket::simulation {

struct CostParameters {
#define HOCKET_COST_PRICE(name, default_value, ...) double name = default_value;
#define HOCKET_COST_NUMBER(name, default_value, ...) uint32_t name = default_value;
#include "simulation/network/cost_parameters.def"

  bool operator==(const CostParameters&) const = default;
};

// On which `model` lines of a table that is made a parameter stands: on all; where it isn't the default; and the same
// of tables for several nodes.
enum class CostShown : uint8_t { kAlways, kIfKnown, kBetweenNodes, kBetweenNodesIfKnown };

// A line of cost_parameters.def: either a price or a number.
struct CostParameter {
  const char* name;
  CostShown shown;
  double CostParameters::* price = nullptr;
  uint32_t CostParameters::* number = nullptr;
  uint32_t first = 0;  // of a number
  uint32_t last = 0;

  double of(const CostParameters& model) const {
    return price != nullptr ? model.*price : static_cast<double>(model.*number);
  }
};
inline constexpr CostParameter kCostParameters[] = {
#define HOCKET_COST_PRICE(name, default_value, shown) {#name, CostShown::shown, &CostParameters::name},
#define HOCKET_COST_NUMBER(name, default_value, shown, first, last) \
  {#name, CostShown::shown, nullptr, &CostParameters::name, first, last},
#include "simulation/network/cost_parameters.def"
};

}  // namespace hocket::simulation
