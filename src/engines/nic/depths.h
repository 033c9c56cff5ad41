// SPDX-License-Identifier: BSD-3-Clause
// How many messages of a schedule there are one after the other until one comes: how long it takes if nobody is late.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/nic/table_writer.h"

namespace hocket::engines::nic {

struct Depths {
  std::vector<uint32_t> receives;  // of the rank's receives, in their order
  uint32_t deepest = 0;            // of any rank's
};
// Among ranks 0 .. size-1, whose plans fit together: what one sends, another receives.
Depths depths_of(uint32_t rank, uint32_t size, const PlanOf& plan_of);
// Of all of them.
std::vector<Depths> depths_of_all(uint32_t size, const PlanOf& plan_of);

// As an arrival has it.
uint8_t depth_of_arrival(uint32_t depth);

}  // namespace hocket::engines::nic
