// SPDX-License-Identifier: BSD-3-Clause
#include "probe/interface.h"

#include <gtest/gtest.h>

#include "probe/site.h"
#include "selection/table.h"

namespace hocket::probe {
namespace {

// What a probe of such an interface would find, without any noise.
Findings findings_of(const Interface& interface, uint32_t most_pairs, double noise = 1) {
  Findings found;
  found.nodes = 2;
  found.machines = interface.one_machine ? 1 : 2;
  found.ranks_a_node = most_pairs;
  found.ranks = 2 * most_pairs;
  bool more = false;
  for (const uint32_t pairs : numbers_up_to(most_pairs))
    for (const uint64_t bytes : sizes_up_to(1 << 20)) {
      const double us = predicted_us(interface, pairs, bytes) * (more ? noise : 1 / noise);
      found.bandwidth.push_back({pairs, bytes, us, 2.0 * pairs * static_cast<double>(bytes) / us, 1});
      more = !more;
    }
  found.overhead = {{8, interface.overhead_us * 1.2, interface.overhead_us * 0.8}, {4096, 9, 9}};
  for (const uint64_t bytes : sizes_up_to(1 << 20)) {
    const double kib = static_cast<double>(bytes) / 1024;
    found.latency.push_back(
        {bytes, 2 * interface.overhead_us + interface.alpha_us + interface.gap_us + kib * interface.beta_us_per_kib,
         1});
  }
  return found;
}

void expect_same(const Interface& found, const Interface& right, double within = 0.03) {
  EXPECT_EQ(found.lanes, right.lanes);
  EXPECT_EQ(found.one_machine, right.one_machine);
  EXPECT_NEAR(found.gap_us / right.gap_us, 1, within);
  EXPECT_NEAR(found.beta_us_per_kib / right.beta_us_per_kib, 1, within);
  EXPECT_NEAR(found.overhead_us, right.overhead_us, 1e-9);
  EXPECT_NEAR(found.alpha_us / right.alpha_us, 1, within);
  EXPECT_NEAR(found.crowding, right.crowding, within);
}

TEST(Interface, OfAHostDrivenOneEveryCoreAddsBandwidth) {
  const Interface right{12, 2, 0.7, 1.1, 4, 0, false, 1};
  const Findings findings = findings_of(right, 4);
  expect_same(interface_of(findings), right);
  EXPECT_NE(judgement(interface_of(findings), findings).find("4 ranks of a node"), std::string::npos);
}

TEST(Interface, OfOneThatServesTwoAtATimeTheThirdWaits) {
  expect_same(interface_of(findings_of({12, 2, 0.7, 1.1, 2, 0, false, 1}, 8)), {12, 2, 0.7, 1.1, 2, 0, false, 1});
}

TEST(Interface, OfOneThatSuffersFromSeveralCoresTheLossIsFound) {
  const Interface right{8, 1, 0.5, 0.4, 1, 0.25, false, 1};
  const Findings findings = findings_of(right, 4);
  expect_same(interface_of(findings), right);
  EXPECT_NE(judgement(interface_of(findings), findings).find("as long for the same"), std::string::npos);
}

TEST(Interface, IsStillRecognisedWhenEveryTimeIsOffByATenth) {
  const Interface found = interface_of(findings_of({12, 2, 0.7, 1.1, 2, 0, true, 1}, 4, 1.1));
  EXPECT_EQ(found.lanes, 2u);
  EXPECT_NEAR(found.beta_us_per_kib, 1.1, 0.2);
  EXPECT_NEAR(found.off_by, 1.1, 0.03);
  EXPECT_TRUE(found.one_machine);
}

TEST(Interface, HasNoNegativeWay) {
  Findings findings = findings_of({1, 5, 3, 1, 1, 0, false, 1}, 2);
  for (Latency& one : findings.latency) one.us = 2;  // less than the processors alone are said to take
  EXPECT_GT(interface_of(findings).alpha_us, 0);
}

TEST(Interface, GoesIntoATablesModelLine) {
  const Interface right{12.5, 2, 0.75, 1.125, 3, 0.5, true, 1};
  const Result<selection::Table> table =
      selection::Table::parse("hocket-table 1\nmodel " + to_words(right) + "\n", "a test");
  ASSERT_TRUE(table.is_ok()) << table.status().message();
  const simulation::CostParameters& read = table.value().model();
  EXPECT_DOUBLE_EQ(read.wire_alpha_us, 12.5);
  EXPECT_DOUBLE_EQ(read.wire_overhead_us, 2);
  EXPECT_DOUBLE_EQ(read.wire_gap_us, 0.75);
  EXPECT_NEAR(read.wire_beta_us_per_kib, 1.125, 0.01);
  EXPECT_EQ(read.wire_lanes, 3u);
  EXPECT_DOUBLE_EQ(read.wire_crowding, 0.5);
  EXPECT_EQ(read.one_machine, 1u);
}

TEST(ProbeSizes, CoverWhatIsAskedFor) {
  EXPECT_EQ(numbers_up_to(1), (std::vector<uint32_t>{1}));
  EXPECT_EQ(numbers_up_to(4), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(numbers_up_to(6), (std::vector<uint32_t>{1, 2, 3, 4, 6}));
  EXPECT_EQ(numbers_up_to(16), (std::vector<uint32_t>{1, 2, 3, 4, 8, 16}));
  EXPECT_EQ(sizes_up_to(64), (std::vector<uint64_t>{1, 4, 16, 64}));
}

}  // namespace
}  // namespace hocket::probe
