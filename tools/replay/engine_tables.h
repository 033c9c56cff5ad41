// SPDX-License-Identifier: BSD-3-Clause
// The tables of NIC engines whose packets were recorded, as `hocket lab bench` has had them made.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "protocol/table.h"
#include "schedule/collective.h"

namespace hocket::replay {

struct EngineTables {
  std::vector<std::vector<nic_program>> collectives;  // of each program, all members' parts
  std::vector<uint8_t> synchronizing;                 // as NicOptions has it
};

// `schedule`: an algorithm by messages and its degree, "tree_mm/2". `engines`: one of known_engines(), "nic-direct".
Result<EngineTables> make_tables(schedule::Collective collective, const std::string& schedule,
                                 const std::string& engines, uint32_t members);
// For help and errors.
std::string known_engines();

}  // namespace hocket::replay
