// SPDX-License-Identifier: BSD-3-Clause
// Simulated time: picoseconds from the beginning, whole ones, so that what is added in another order comes to the same.
// Parameters and results are in microseconds.
//
// Thread safety: pure functions.
#pragma once

#include <cmath>
#include <cstdint>

namespace hocket::simulation {

using Time = uint64_t;

inline constexpr Time kNever = ~Time{0};
inline constexpr double kPerMicrosecond = 1e6;

// Negative ones count as none.
inline Time from_us(double us) { return us > 0 ? static_cast<Time>(std::llround(us * kPerMicrosecond)) : 0; }
inline double to_us(Time time) { return static_cast<double>(time) / kPerMicrosecond; }

}  // namespace hocket::simulation
