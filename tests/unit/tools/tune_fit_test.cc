// SPDX-License-Identifier: BSD-3-Clause
#include "tune/fit.h"

#include <gtest/gtest.h>

#include <set>

#include "tune/candidates.h"

namespace hocket::command {
namespace {

using schedule::Collective;
using simulation::CostParameters;

constexpr double kLong_s = 60;  // the search ends long before

TuneOptions options_of() {
  TuneOptions options;
  options.cores = 2;
  options.ranks = {2, 4, 8};
  options.collectives = {Collective::kBarrier, Collective::kBroadcast, Collective::kAllreduce};
  options.max_bytes = 32768;
  return options;
}

// What a machine would measure on which the model is exactly right.
std::vector<Measurement> measurements_of(const TuneOptions& options, const CostParameters& machine) {
  std::vector<Measurement> measurements;
  for (const uint32_t ranks : options.ranks)
    for (const TuneCell& cell : cells_for(options, ranks)) {
      const selection::Query query = query_of(options, ranks, cell.cell);
      for (const std::string& name : candidates_for(query)) {
        const Result<selection::Spec> spec = selection::parse_spec(query.collective, name);
        const Result<selection::Choice> choice = selection::choose(query, selection::Table(), &spec.value());
        const double us = selection::PricedCall(query, choice.value()).us(machine);
        measurements.push_back({query.collective, ranks, query.oversubscribed, cell.cell.bytes, name, us / 2, us * 2,
                                1});  // us() is between
      }
    }
  return measurements;
}

TEST(Fit, FindsTheParametersBehindTheMeasurements) {
  const TuneOptions options = options_of();
  const CostParameters machine{
      .cores = 2, .alpha_us = 0.3, .beta_us_per_kib = 0.05, .gamma_us_per_kib = 0.02, .switch_us = 2};
  const Fit fit = fit_model(options, measurements_of(options, machine), kLong_s);
  EXPECT_GT(fit.measurements, 50u);
  EXPECT_LT(fit.off_by, 1.1);
  EXPECT_LT(fit.costs, 1.1);
  EXPECT_NEAR(fit.parameters.alpha_us / machine.alpha_us, 1, 0.25);
  EXPECT_NEAR(fit.parameters.beta_us_per_kib / machine.beta_us_per_kib, 1, 0.25);
  EXPECT_NEAR(fit.parameters.switch_us / machine.switch_us, 1, 0.25);
  EXPECT_EQ(fit.parameters.cores, 2u);
}

TEST(Fit, WithoutTimeKeepsTheDefaults) {
  const TuneOptions options = options_of();
  const Fit fit = fit_model(options, measurements_of(options, {.alpha_us = 3}), 0);
  EXPECT_EQ(fit.parameters.alpha_us, CostParameters().alpha_us);
  EXPECT_GT(fit.off_by, 1);
}

TEST(Fit, AModelThatIsRightIsJudgedSo) {
  const TuneOptions options = options_of();
  const selection::Table table(CostParameters{.alpha_us = 0.3});
  const Fit fit = judge_model(table, measurements_of(options, table.model()));
  EXPECT_EQ(fit.parameters, table.model());
  EXPECT_NEAR(fit.off_by, 1, 1e-9);
  EXPECT_NEAR(fit.costs, 1, 1e-9);
  EXPECT_GT(
      judge_model(selection::Table(CostParameters{.alpha_us = 3}), measurements_of(options, table.model())).off_by,
      1.2);
}

TEST(Candidates, OfCompositionsComeWithEachAlgorithmBetweenNodes) {
  const std::vector<uint64_t> labels = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  const schedule::Nodes nodes(labels);
  const std::vector<std::string> names = candidates_for({.collective = Collective::kAlltoall,
                                                         .bytes = 512,
                                                         .ranks = 16,
                                                         .nodes = &nodes,
                                                         .oversubscribed = true,
                                                         .element_bytes = 1});
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_EQ(all.size(), names.size());
  for (const char* flat : {"linear", "pairwise", "bruck"}) EXPECT_TRUE(all.contains(flat)) << flat;
  EXPECT_FALSE(all.contains("direct")) << "it needs memory that all ranks share";
  for (const char* across : {"linear", "pairwise", "bruck"})
    for (const char* scheme : {"leader", "send_aggregation", "receive_distribution"})
      EXPECT_TRUE(all.contains(std::string(scheme) + ":across=" + across)) << scheme << " " << across;
  // Also where one of them is what the table says.
  for (const std::string& name : names)
    EXPECT_TRUE(!name.starts_with("send_aggregation") || name.find("across=") != std::string::npos) << name;
}

TEST(Candidates, OfTreesBetweenLeadersComeWithTheirDegrees) {
  const schedule::Nodes nodes(std::vector<uint64_t>{0, 0, 1, 1, 2, 2, 3, 3});
  const std::vector<std::string> names =
      candidates_for({.collective = Collective::kReduce, .bytes = 64, .ranks = 8, .nodes = &nodes, .element_bytes = 8});
  const std::set<std::string> all(names.begin(), names.end());
  EXPECT_TRUE(all.contains("leader:across=tree_mm"));
  EXPECT_TRUE(all.contains("leader:across=tree_mm/3"));
  EXPECT_FALSE(all.contains("leader:across=tree_mm/4")) << "of four leaders that is no other than 3";
}

TEST(Candidates, OfLongMessagesBetweenNodesComeInSegmentsToo) {
  const schedule::Nodes nodes(std::vector<uint64_t>{0, 1, 0, 1, 0, 1});
  const auto names = [&](const schedule::Nodes* over, uint64_t bytes) {
    const std::vector<std::string> list = candidates_for(
        {.collective = Collective::kBroadcast, .bytes = bytes, .ranks = 6, .nodes = over, .element_bytes = 1});
    return std::set<std::string>(list.begin(), list.end());
  };
  EXPECT_TRUE(names(&nodes, 64 << 10).contains("node_tree:segment=32K"));
  EXPECT_TRUE(names(&nodes, 64 << 10).contains("tree_mm:segment=32K"));
  EXPECT_FALSE(names(&nodes, 32 << 10).contains("node_tree:segment=32K"));
  EXPECT_FALSE(names(nullptr, 64 << 10).contains("tree_mm:segment=32K"));
  EXPECT_FALSE(names(nullptr, 64 << 10).contains("node_tree")) << "on one node that is tree_mm";
}

TEST(Candidates, SchedulesThatAreTheSameCountOnce) {
  // With two ranks, all trees of either are the same.
  const std::vector<std::string> names =
      candidates_for({.collective = Collective::kReduce, .bytes = 8, .ranks = 2, .element_bytes = 8});
  size_t trees = 0;
  for (const std::string& name : names) trees += name.starts_with("tree:") || name == "tree" ? 1 : 0;
  EXPECT_EQ(trees, 1u);
  size_t more = 0;
  for (const std::string& name :
       candidates_for({.collective = Collective::kReduce, .bytes = 8, .ranks = 16, .element_bytes = 8}))
    more += name.starts_with("tree:") || name == "tree" ? 1 : 0;
  EXPECT_GT(more, 2u);
}

TEST(Candidates, AllOfThemCanServe) {
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const TuneOptions options = options_of();
    const selection::Query query = query_of(options, 8, {static_cast<Collective>(i), 4096});
    const std::vector<std::string> names = candidates_for(query);
    EXPECT_FALSE(names.empty()) << name(query.collective);
    for (const std::string& name : names) {
      const Result<selection::Spec> spec = selection::parse_spec(query.collective, name);
      ASSERT_TRUE(spec.is_ok()) << spec.status().message();
      EXPECT_EQ(selection::why_not(query, spec.value()), "");
    }
  }
}

// What the model assumes of ranks with a core each is in a comparison of tables and in the fit.
TEST(Cells, AskWhatCommunicatorsAsk) {
  TuneOptions options;
  options.cores = 16;
  EXPECT_TRUE(query_of(options, 16, {Collective::kBroadcast, 8192}).has_cores);
  EXPECT_FALSE(query_of(options, 17, {Collective::kBroadcast, 8192}).has_cores);
  const selection::Table table(CostParameters{.beta_us_per_kib = 0.078, .gamma_us_per_kib = 0.03});
  const Result<selection::Choice> choice =
      selection::choose(query_of(options, 16, {Collective::kBroadcast, 8192}), table);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  EXPECT_EQ(choice.value().algorithm->name, "pieces");
}

TEST(Cells, ACoarseGridOfAllCollectivesComesFirst) {
  TuneOptions options = options_of();
  options.max_bytes = 1 << 20;
  const std::vector<TuneCell> cells = cells_for(options, 4);
  std::set<Collective> seen;
  for (size_t i = 0; i < cells.size() / 2; ++i) seen.insert(cells[i].cell.collective);
  EXPECT_EQ(seen.size(), options.collectives.size());
}

TEST(Cells, WhatRanksSeeDifferentlyBecomesOneCell) {
  std::vector<Measurement> measurements;
  for (const uint64_t bytes : {64, 4096})
    for (const char* name : {"linear", "pairwise"})
      measurements.push_back({Collective::kAlltoallv, 4, true, bytes, name, 1.0 * bytes, 4.0 * bytes, 1});
  measurements.push_back({Collective::kAlltoallv, 4, true, 64, "dropped", 1, 1, 1});
  const std::vector<MeasuredCell> cells = by_cell(measurements);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].bytes, 0u);
  EXPECT_EQ(cells[0].us.size(), 2u) << "who was dropped at one size can't be compared";
  EXPECT_NEAR(cells[0].us.at("linear"), 2 * 512, 1e-6);
}

TEST(Noise, IsWhatTheBestOfHalfTheCellsWobbleBy) {
  std::vector<Measurement> measurements;
  for (const auto& [bytes, wobble] : {std::pair<uint64_t, double>{8, 1.01}, {64, 1.2}, {512, 3.0}}) {
    measurements.push_back({Collective::kAllreduce, 4, true, bytes, "direct", 1, 1, 10, wobble});
    measurements.push_back({Collective::kAllreduce, 4, true, bytes, "ring", 2, 2, 10, 9.0});
  }
  EXPECT_DOUBLE_EQ(noise_of(measurements), 1.2);
  measurements.resize(2);
  EXPECT_DOUBLE_EQ(noise_of(measurements), kNoise) << "a calm machine";
  measurements[0].wobble = 9;
  EXPECT_DOUBLE_EQ(noise_of(measurements), 1.5) << "whatever runs beside it, twice as slow isn't as good";
  EXPECT_DOUBLE_EQ(noise_of({}), kNoise);
}

}  // namespace
}  // namespace hocket::command
