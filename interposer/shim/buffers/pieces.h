// SPDX-License-Identifier: BSD-3-Clause
// How long messages that some rank may have to pack are cut: on all ranks alike, whether they have to pack or not, so
// that those that do need not pack all of it first. No size is so large that a call would be passed through.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

namespace hocket::interposer {

inline constexpr size_t kLongestWhole = size_t{8} << 20;

// The bytes of a piece of a message of `bytes`.
constexpr size_t piece_of(size_t bytes) { return bytes <= kLongestWhole ? bytes : size_t{4} << 20; }

}  // namespace hocket::interposer
