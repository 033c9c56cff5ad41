// SPDX-License-Identifier: BSD-3-Clause
// A cost model in which nothing that is lost on the way, or taken for another, goes unnoticed.
#pragma once

#include <algorithm>

#include "simulation/network/cost_parameters.h"

namespace hocket::command {

// Of prices no two are equal. All are as short as tables write them.
inline simulation::CostParameters all_unlike_the_defaults() {
  simulation::CostParameters model;
  double price = 0;
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    price += 0.25;
    if (one.price != nullptr)
      model.*one.price = price;
    else
      model.*one.number = std::min(model.*one.number + 3, one.last);
  }
  return model;
}

}  // namespace hocket::command
