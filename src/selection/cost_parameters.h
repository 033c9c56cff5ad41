// SPDX-License-Identifier: BSD-3-Clause
// What the cost model knows of a machine: the numbers of a tuning table's `model` line.
#pragma once

#include <cstdint>

namespace hocket::selection {

// The defaults are those of the machine that the shipped table was measured on.
struct CostParameters {
  double alpha_us = 0.1;             // a message, a publication or a signal until its reader has seen it
  double beta_us_per_kib = 0.0144;   // a KiB copied
  double gamma_us_per_kib = 0.0126;  // a KiB combined
  double switch_us = 0.95;           // where ranks share cores: a core handed on to the next rank
  uint32_t cores = 2;                // that the ranks of a crowded call share

  bool operator==(const CostParameters&) const = default;
};

}  // namespace hocket::selection
