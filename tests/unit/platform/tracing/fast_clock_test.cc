// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/fast_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace hocket::platform {
namespace {

// Long enough for several anchors; what is read of both clocks lies between two reads of the one.
TEST(FastClock, OnlyGrowsAndAgreesWithTheClock) {
  constexpr uint64_t kForNs = 60'000'000, kOffNs = 20'000;
  const uint64_t since_ns = now_ns();
  uint64_t last_ns = 0, furthest_ns = 0;
  for (uint64_t before_ns = since_ns; before_ns - since_ns < kForNs;) {
    before_ns = now_ns();
    const uint64_t told_ns = fast_now_ns();
    const uint64_t after_ns = now_ns();
    ASSERT_GE(told_ns, last_ns);
    last_ns = told_ns;
    if (told_ns < before_ns) furthest_ns = std::max(furthest_ns, before_ns - told_ns);
    if (told_ns > after_ns) furthest_ns = std::max(furthest_ns, told_ns - after_ns);
  }
  EXPECT_LT(furthest_ns, kOffNs);
  RecordProperty("furthest_ns", std::to_string(furthest_ns));
}

}  // namespace
}  // namespace hocket::platform
