// SPDX-License-Identifier: BSD-3-Clause
// Schedules for people and for other programs to read.
//
// Thread safety: all functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "schedule/plan.h"

namespace hocket::schedule {

// One line a step: its number, its stage, what it does.
std::string dump_text(const Plan& plan);
std::string dump_text(std::span<const Plan> plans);

struct GoalOptions {
  uint64_t count = 1;
  uint32_t element_bytes = 8;
  double copy_ns_per_byte = 0.05;  // what `calc` charges for copying and combining
  double combine_ns_per_byte = 0.1;
};

// All ranks in the textual GOAL format of the simulator LogGOPSim. That knows messages and computation only, so
//   a publication becomes a message to each reader (sent once it is there; nothing waits for these sends),
//   an exposure a message of 1 byte to each rank that puts into it, and a put a message to the owner,
//   an addition a message of 1 byte to each rank that waits for it, a wait the receipt of those it implies,
//   a copy and a combination computation, by the byte.
// kInvalidArgument where the plans don't come to an end.
Result<std::string> dump_goal(std::span<const Plan> plans, const GoalOptions& options);

// A picture: a column a rank, a row a step of the longest chain, arrows from the giver to the taker. For up to
// kMaxSvgRanks ranks; kInvalidArgument for more and where the plans don't come to an end.
inline constexpr uint32_t kMaxSvgRanks = 64;
Result<std::string> dump_svg(std::span<const Plan> plans, std::string_view title);

}  // namespace hocket::schedule
