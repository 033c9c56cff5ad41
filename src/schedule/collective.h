// SPDX-License-Identifier: BSD-3-Clause
// The collective operations hocket knows, and how much of each buffer one rank holds for them.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket::schedule {

enum class Collective : uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllreduce,
  kAllgather,
};
inline constexpr int kCollectives = 5;

// "barrier", "broadcast", ...: the names of the command line, the environment and the tables.
std::string_view name(Collective collective);
std::optional<Collective> collective_from_name(std::string_view text);

// A buffer's extent in units of the call's count, for a communicator of `size` ranks: 0 where the collective
// has no such buffer, 1 for a vector of `count` elements, `size` where there is a block a rank.
uint32_t input_blocks(Collective collective, uint32_t size);
uint32_t output_blocks(Collective collective, uint32_t size);

}  // namespace hocket::schedule
