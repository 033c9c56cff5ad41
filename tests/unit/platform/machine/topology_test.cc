// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/child_process.h"
#include "platform/machine/cgroup.h"

namespace hocket::platform {
namespace {

using Mask = uint64_t[2];

bool each(const std::vector<std::pair<uint64_t, uint64_t>>& masks, std::vector<double> quotas = {}) {
  Mask bits[200] = {};
  for (size_t i = 0; i < masks.size(); ++i) {
    bits[i][0] = masks[i].first;
    bits[i][1] = masks[i].second;
  }
  quotas.resize(masks.size());
  return has_core_each(bits, quotas.data(), static_cast<uint32_t>(masks.size()));
}

TEST(HasCoreEach, CountsSharedMasks) {
  EXPECT_TRUE(each({{0b11, 0}, {0b11, 0}}));
  EXPECT_FALSE(each({{0b11, 0}, {0b11, 0}, {0b11, 0}}));
  EXPECT_TRUE(each({{1, 0}}));
  EXPECT_FALSE(each({{0, 0}}));
}

TEST(HasCoreEach, FindsTheOnlyAssignment) {
  // A greedy choice gives the first rank processor 0, which the last one needs.
  EXPECT_TRUE(each({{0b011, 0}, {0b110, 0}, {0b001, 0}}));
  // Three ranks on two processors, though the union of the masks has four.
  EXPECT_FALSE(each({{0b0011, 0}, {0b0011, 0}, {0b0011, 0}, {0b1111, 0}}));
}

TEST(HasCoreEach, KnowsProcessorsPastTheFirst64) {
  EXPECT_TRUE(each({{0, uint64_t{1} << 63}, {uint64_t{1} << 63, 0}}));
  EXPECT_FALSE(each({{0, 1}, {0, 1}}));
  EXPECT_TRUE(each(std::vector<std::pair<uint64_t, uint64_t>>(128, {~uint64_t{0}, ~uint64_t{0}})));
  EXPECT_FALSE(each(std::vector<std::pair<uint64_t, uint64_t>>(129, {~uint64_t{0}, ~uint64_t{0}})));
}

TEST(HasCoreEach, QuotaIsSharedByAll) {
  EXPECT_FALSE(each({{0b1111, 0}, {0b1111, 0}}, {1.5, 1.5}));
  EXPECT_TRUE(each({{0b1111, 0}, {0b1111, 0}}, {2, 2}));
  EXPECT_FALSE(each({{0b1111, 0}, {0b1111, 0}}, {0, 1}));
}

TEST(CpuBudget, FollowsTheAffinityMask) {
  EXPECT_EQ(in_child([] {
              cpu_set_t one;
              CPU_ZERO(&one);
              const int processor = sched_getcpu();
              CPU_SET(processor, &one);
              if (sched_setaffinity(0, sizeof(one), &one) != 0) return 1;
              const CpuBudget budget = read_cpu_budget();
              if (budget.allowed_count != 1 || budget.usable() != 1) return 2;
              if (processor >= 128) return 0;
              return budget.allowed_bits[processor / 64] == uint64_t{1} << (processor % 64) ? 0 : 3;
            }),
            0);
}

TEST(CpuBudget, QuotaLowersWhatIsUsableButNotBelowOne) {
  CpuBudget budget;
  budget.allowed_count = 8;
  EXPECT_EQ(budget.usable(), 8U);
  budget.quota = 2.5;
  EXPECT_EQ(budget.usable(), 2U);
  budget.quota = 0.1;
  EXPECT_EQ(budget.usable(), 1U);
  budget.quota = 1000;
  EXPECT_EQ(budget.usable(), 8U);
}

class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "hocket-cgroup-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  CgroupRoots roots() const { return {(root_ / "membership").string(), root_.string()}; }

  std::filesystem::path root_;
};

TEST_F(Cgroup, Version2TakesTheLeastOfAllLevels) {
  write("membership", "0::/slice/job/step");
  write("slice/job/step/cpu.max", "max 100000");
  write("slice/job/cpu.max", "150000 100000");
  write("slice/cpu.max", "400000 100000");
  write("slice/job/step/memory.max", "max");
  write("slice/memory.max", "123456789");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(roots()), 1.5);
  EXPECT_EQ(cgroup_memory_limit(roots()), 123456789U);
}

TEST_F(Cgroup, Version1KnowsJoinedControllersAndUnlimitedLevels) {
  write("membership", "4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/");
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  write("cpu,cpuacct/cpu.cfs_quota_us", "300000");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000");
  write("memory/job/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(roots()), 3.0);
  EXPECT_EQ(cgroup_memory_limit(roots()), 0U);
}

TEST_F(Cgroup, PathOfTheHostInsideAContainerFallsBackToTheTop) {
  write("membership", "0::/kubepods/pod1/container");
  write("cpu.max", "50000 100000");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(roots()), 0.5);
}

TEST_F(Cgroup, NothingThereMeansNoLimit) {
  EXPECT_EQ(cgroup_cpu_quota(roots()), 0);
  write("membership", "garbage\n0::/a");
  write("a/cpu.max", "what");
  EXPECT_EQ(cgroup_cpu_quota(roots()), 0);
}

TEST(RanksShareCores, WhereTheyAreMoreOnOneMachineWhateverItsNodes) {
  const auto claim = [](uint64_t machine) { return CoreClaim{machine, {0b11, 0}, 0}; };
  EXPECT_FALSE(ranks_share_cores(std::vector{claim(1), claim(2), claim(1), claim(2)}));
  EXPECT_TRUE(ranks_share_cores(std::vector{claim(1), claim(2), claim(1), claim(1)}));
  EXPECT_FALSE(ranks_share_cores({}));
}

TEST(CoresOfRanks, AreThoseThatAnyMayUseOnTheMachineWithMost) {
  EXPECT_EQ(cores_of({}), 1u);
  const CoreClaim bound[] = {{1, {0b0001, 0}, 0}, {1, {0b0010, 0}, 0}, {2, {0b1111, 1}, 0}};
  EXPECT_EQ(cores_of(bound), 5u);
  EXPECT_EQ(cores_of(std::span(bound).first(2)), 2u);
  const CoreClaim limited[] = {{1, {0xffff, 0}, 0}, {1, {0xffff, 0}, 3.5}};
  EXPECT_EQ(cores_of(limited), 3u);
}

}  // namespace
}  // namespace hocket::platform
