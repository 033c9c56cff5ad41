// SPDX-License-Identifier: BSD-3-Clause
// The words in which people name nodes, labs, shares and times. Errors name the word and what is accepted.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace hocket::lab {

inline constexpr int kMostNodes = 256;
inline constexpr int kAllNodes = -1;

// "n3" -> 3, "all" -> kAllNodes. `nodes`: how many the lab has.
Result<int> parse_node(const std::string& word, int nodes);

// A lab's name becomes the name of a folder: lower-case letters, digits and dashes.
Status check_name(const std::string& name);

// "1%", "0.25%", "1": how many of 2^32 packets. 100 % is 2^32 itself.
inline constexpr uint64_t kWhole = uint64_t{1} << 32;
Result<uint64_t> parse_percent(const std::string& word);
// "1 %", without zeros that say nothing.
std::string percent_text(uint64_t share);

// "250us", "1ms", "0.5s", "0": nanoseconds, an hour at most.
Result<uint64_t> parse_duration_ns(const std::string& word);
std::string duration_text(uint64_t duration_ns);

// As a shell reads it as one word.
std::string quoted(const std::string& word);

}  // namespace hocket::lab
