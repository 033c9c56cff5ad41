// SPDX-License-Identifier: BSD-3-Clause
// Nodes and what is between them, as the simulation knows them.
//
// Thread safety: a value.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/network/cost_parameters.h"

namespace hocket::simulation {

struct NetworkParameters {
#define HOCKET_NETWORK_PRICE(name, default_value) double name = default_value;
#define HOCKET_NETWORK_DIFFERENCE(name, default_value) double name = default_value;
#define HOCKET_NETWORK_SHARE(name, default_value) double name = default_value;
#define HOCKET_NETWORK_NUMBER(name, default_value, ...) uint32_t name = default_value;
#include "simulation/network/network_parameters.def"

  bool operator==(const NetworkParameters&) const = default;
};

struct Network {
  std::string name;
  CostParameters costs;
  NetworkParameters more;
};

}  // namespace hocket::simulation
