// SPDX-License-Identifier: BSD-3-Clause
#include "words/estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hocket::command {

std::string time_text(double seconds) {
  constexpr long kMinute = 60, kHour = 60;  // in seconds, in minutes
  const long whole = std::lround(std::max(seconds, 0.0));
  if (whole < 2 * kMinute) return std::to_string(whole) + " s";
  const long minutes = (whole + kMinute / 2) / kMinute;
  if (minutes < 2 * kHour) return std::to_string(minutes) + " min";
  return std::to_string(minutes / kHour) + " h " + std::to_string(minutes % kHour) + " min";
}

std::string Estimate::text() const {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%", std::clamp(share(), 0.0, 1.0) * 100);
  return left_s() < 0 ? percent : percent + (", " + time_text(left_s())) + " left";
}

}  // namespace hocket::command
