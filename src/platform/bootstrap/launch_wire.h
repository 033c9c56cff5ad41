// SPDX-License-Identifier: BSD-3-Clause
// Internal to launch_*.cc: what ranks and their launcher write to each other, over a socket that keeps message borders.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::platform::launch_wire {

inline constexpr uint64_t kMagic = 0x016e75722d6b68ff;
inline constexpr uint32_t kVersion = 1;
// Of data in one message: far below what a socket's buffer takes by default.
inline constexpr size_t kPieceBytes = 32768;
// Of a reason.
inline constexpr size_t kMostTextBytes = 2048;

// A rank's first message.
struct Join {
  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t rank = 0;
  uint64_t key[2] = {};
  int64_t timeout_ms = 0;  // how long it waits for the others, in each round
};
static_assert(sizeof(Join) == 40);

enum class Kind : uint32_t {
  kPart = 1,    // of a rank: what it gives in this round; of the launcher: the next bytes of what all gave
  kFailed = 2,  // of the launcher: a code and the reason
};

// Each later message begins with this; `bytes` of data or text follow.
struct Head {
  Kind kind = Kind::kPart;
  int32_t code = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(Head) == 16);

inline constexpr size_t kMostMessageBytes = sizeof(Head) + kPieceBytes;
static_assert(kMostTextBytes <= kPieceBytes);

}  // namespace hocket::platform::launch_wire
