// SPDX-License-Identifier: BSD-3-Clause
// Ranks on nodes, and the algorithms that the parts of a composition may be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket::algorithms {

enum class Order { kBlock, kCyclic, kRandom };

struct Layout {
  std::vector<uint32_t> ranks_on;  // each node
  Order order = Order::kBlock;
  uint32_t seed = 0;  // of a random order

  schedule::Nodes nodes() const;
};
std::string text(const Layout& layout);

// The algorithms that part `index` may be on these nodes, whatever is asked of the whole; `varies`: where that is a
// vector version.
std::vector<const Algorithm*> algorithms_for_part(const Algorithm& composition, uint32_t index,
                                                  const schedule::Nodes& nodes, uint32_t degree, bool keep_order,
                                                  bool varies = false);
// "node=ring, across=the default"
std::string text_of_parts(const Algorithm& composition, const schedule::Shape& shape);

}  // namespace hocket::algorithms
