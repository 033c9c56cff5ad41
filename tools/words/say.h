// SPDX-License-Identifier: BSD-3-Clause
// What all commands say alike.
//
// Thread safety: any thread.
#pragma once

#include <string>

namespace hocket::command {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // it was understood and went wrong
inline constexpr int kUsage = 2;    // it was not understood

// Prints "hocket: message" on stderr and returns `code`.
int fail(int code, const std::string& message);

// Whether the file is a terminal on which colours are welcome (NO_COLOR is heeded).
bool wants_colour(int descriptor);

}  // namespace hocket::command
