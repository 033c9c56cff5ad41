// SPDX-License-Identifier: BSD-3-Clause
// Sizes in bytes as people write them: in the environment, in tables, on command lines.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hocket {

// What parse_size() takes, for messages: "is ... bytes such as <this>".
inline constexpr const char* kSizeExamples = "4096, 64K, 16M or 1G (64KB and 64KiB are 64K)";

// Digits and a unit that may be missing: B for bytes; K, M and G for powers of 1024, which a B or iB behind them
// doesn't change. Capitals and small letters alike, no blanks. kInvalidArgument names the text and the remedy.
Result<uint64_t> parse_size(std::string_view text);

// The shortest exact form that parse_size() reads: "64K", "1536".
std::string size_to_text(uint64_t bytes);

}  // namespace hocket
