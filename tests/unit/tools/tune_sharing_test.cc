// SPDX-License-Identifier: BSD-3-Clause
// What cores cost each other, as parameters of the model.
#include "tune/sharing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "platform/machine/processors_folder.h"
#include "platform/machine/topology.h"
#include "tune/measure.h"
#include "tune/written/table.h"

namespace hocket::command {
namespace {

constexpr double kShort_s = 0.05;

TEST(Sharing, OfALineIsWhatEachFurtherReaderWaits) {
  simulation::CostParameters parameters;
  put_into({.readers = 5, .kib = 16, .seen_us = 0.1, .all_seen_us = 0.3, .copied_us = 1, .all_copied_us = 4},
           parameters);
  EXPECT_NEAR(parameters.hot_line_us, 0.05, 1e-12);
  EXPECT_NEAR(parameters.source_us_per_kib, 4.0 / 16 / 5, 1e-12);
  EXPECT_EQ(parameters.memory_us_per_kib, 0);
  EXPECT_EQ(parameters.other_socket_us, 0);
  // Chance can make the last of several faster than one.
  put_into({.readers = 2, .seen_us = 0.2, .all_seen_us = 0.1}, parameters);
  EXPECT_EQ(parameters.hot_line_us, 0);
}

TEST(Sharing, OfOneReaderSaysNothingOfSeveral) {
  simulation::CostParameters parameters;
  Sharing found{.kib = 16, .seen_us = 0.1, .copied_us = 1, .memory_us_per_kib = 0.25, .copiers = 2};
  found.farther_seen_us[1] = 0.25;
  found.farther_copied_us[1] = 1.5;
  put_into(found, parameters);
  EXPECT_EQ(parameters.hot_line_us, 0);
  EXPECT_EQ(parameters.source_us_per_kib, 0);
  EXPECT_NEAR(parameters.memory_us_per_kib, 0.125, 1e-12);
  EXPECT_EQ(parameters.other_cache_us, 0);
  EXPECT_NEAR(parameters.other_socket_us, 0.15, 1e-12);
  EXPECT_NEAR(parameters.other_socket_us_per_kib, 0.5 / 16, 1e-12);
}

TEST(Sharing, IsMeasuredAsFarAsTheCoresGo) {
  const uint32_t cores = platform::read_cpu_budget().usable();
  const simulation::CostParameters two = measure_sharing(std::min(cores, 2u), kShort_s);
  EXPECT_EQ(two.hot_line_us, 0) << "a line that two want at a time has one reader";
  EXPECT_EQ(two.source_us_per_kib, 0);
  EXPECT_EQ(two.memory_us_per_kib > 0, cores > 1 && two.memory_after_kib > 0);
  EXPECT_TRUE(std::isfinite(two.memory_us_per_kib));
  simulation::CostParameters one = measure_sharing(1, kShort_s);
  one.memory_after_kib = 0;
  EXPECT_EQ(one, simulation::CostParameters{.cores = 1});
}

// Four sockets of two caches each, of two cores of two threads: the threads of core c are processors 2c and 2c + 1.
class SharingOfCores : public testing::Test {
 protected:
  SharingOfCores() {
    for (int processor = 0; processor < 32; ++processor) {
      processors_.write(processor, "topology/thread_siblings_list", range(processor, 2));
      processors_.write(processor, "topology/package_cpus_list", range(processor, 8));
      processors_.write(processor, "cache/index3/shared_cpu_list", range(processor, 4));
    }
  }

  static std::string range(int within, int count) { return platform::processor_range(within / count * count, count); }
  platform::ProcessorsFolder processors_;
  const std::string& folder_ = processors_.path();
};

TEST_F(SharingOfCores, IsOfCoresAndNotOfTheirThreads) {
  std::vector<int> all;
  for (int processor = 0; processor < 32; ++processor) all.push_back(processor);
  const Neighbours neighbours = neighbours_of(all, folder_);
  EXPECT_EQ(neighbours.near, std::vector<int>{2}) << "1 and 3 are the second threads";
  EXPECT_EQ(neighbours.farther[0], 4);
  EXPECT_EQ(neighbours.farther[1], 8);
}

TEST_F(SharingOfCores, KnowsOtherCachesWhereThereIsNoneNearby) {
  const Neighbours neighbours = neighbours_of({0, 1, 4, 8, 16}, folder_);
  EXPECT_TRUE(neighbours.near.empty());
  EXPECT_EQ(neighbours.farther[0], 4);
  EXPECT_EQ(neighbours.farther[1], 8);
}

// Else whatever is copied would count as more than what the caches hold.
TEST_F(SharingOfCores, SaysNothingOfTheMemoryBehindCachesOfUnknownSize) {
  const simulation::CostParameters found = measure_sharing(2, kShort_s, folder_);
  EXPECT_EQ(found.memory_after_kib, 0);
  EXPECT_EQ(found.memory_us_per_kib, 0);
}

TEST(Sharing, IsInTheTableAsItWasMeasured) {
  TuneOptions options;
  options.cores = 16;
  Making making;
  making.fit.measurements = 1;
  making.fit.parameters.cores = 16;
  Survey survey;
  const std::string silent = table_text(options, {}, survey, {}, making);
  EXPECT_NE(silent.find("# Not known, since it takes three cores"), std::string::npos) << silent;
  making.fit.parameters.hot_line_us = 0.05;
  making.fit.parameters.sockets = 2;
  making.fit.parameters.other_socket_us = 0.085;
  making.fit.parameters.memory_after_kib = 16384;
  const std::string text = table_text(options, {}, survey, {}, making);
  EXPECT_EQ(text.find("Not known"), std::string::npos) << text;
  const Result<selection::Table> table = selection::Table::parse(text, "t");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  EXPECT_EQ(table.value().model().hot_line_us, 0.05);
  EXPECT_EQ(table.value().model().sockets, 2u);
  EXPECT_EQ(table.value().model().other_socket_us, 0.085);
  EXPECT_EQ(table.value().model().memory_after_kib, 16384);
}

}  // namespace
}  // namespace hocket::command
