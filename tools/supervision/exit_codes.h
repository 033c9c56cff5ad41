// SPDX-License-Identifier: BSD-3-Clause
// Exit codes of programs that start others, as shells and timeout(1) have them.
//
// Thread safety: constants.
#pragma once

namespace hocket::supervision {

inline constexpr int kTimedOut = 124;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalled = 128;  // and the signal's number

}  // namespace hocket::supervision
