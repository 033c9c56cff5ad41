// SPDX-License-Identifier: BSD-3-Clause
// counters.h: what is counted, through the public API.
#include <gtest/gtest.h>
#include <hocket/counters.h>

#include <cstring>
#include <map>
#include <string>

#include "support/team.h"

namespace hocket::test {
namespace {

std::map<std::string, uint64_t> counters() {
  std::map<std::string, uint64_t> found;
  for (int i = 0; i < hocket_counter_count(); ++i) {
    uint64_t value = 0;
    EXPECT_EQ(hocket_counter_read(i, &value), HOCKET_OK) << hocket_error_text();
    found[hocket_counter_name(i)] = value;
  }
  return found;
}

void call(Rank& me, int times) {
  int64_t one = 1, sum = 0;
  for (int i = 0; i < times; ++i)
    EXPECT_EQ(hocket_allreduce(me.comm, &one, &sum, 1, HOCKET_INT64, HOCKET_SUM), HOCKET_OK) << hocket_error_text();
}

TEST(Counters, CountBlockingCallsWhileTheyAreEnabled) {
  EXPECT_EQ(run_processes(3,
                          [](Rank& me) {
                            call(me, 3);
                            EXPECT_EQ(counters()["calls"], 0u);
                            EXPECT_EQ(hocket_counters_enable(1), 0);
                            call(me, 5);
                            EXPECT_EQ(hocket_barrier(me.comm), HOCKET_OK);
                            EXPECT_EQ(hocket_counters_enable(0), 1);
                            const std::map<std::string, uint64_t> found = counters();
                            call(me, 3);
                            EXPECT_EQ(counters(), found);
                            EXPECT_EQ(found.at("calls"), 6u);
                            EXPECT_EQ(found.at("bytes"), 5 * sizeof(int64_t));
                            EXPECT_GT(found.at("time_ns"), 0u);
                            EXPECT_LE(found.at("idle_ns"), found.at("time_ns"));
                            EXPECT_LE(found.at("late_ns"), found.at("idle_ns"));
                            EXPECT_LE(found.at("waits"), found.at("calls"));
                          }),
            0);
}

TEST(Counters, HaveNamesThatDifferAndDescriptions) {
  std::map<std::string, uint64_t> found = counters();
  EXPECT_EQ(found.size(), static_cast<size_t>(hocket_counter_count()));
  for (int i = 0; i < hocket_counter_count(); ++i) EXPECT_GT(std::strlen(hocket_counter_description(i)), 10u);
}

TEST(Counters, RefuseNumbersThatNoneHas) {
  uint64_t value = 7;
  for (const int wrong : {-1, hocket_counter_count()}) {
    EXPECT_EQ(hocket_counter_name(wrong), nullptr);
    EXPECT_EQ(hocket_counter_description(wrong), nullptr);
    EXPECT_EQ(hocket_counter_read(wrong, &value), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(hocket_error_text(), "hocket_counter_read"), nullptr);
  }
  EXPECT_EQ(hocket_counter_read(0, nullptr), HOCKET_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(value, 7u);
}

}  // namespace
}  // namespace hocket::test
