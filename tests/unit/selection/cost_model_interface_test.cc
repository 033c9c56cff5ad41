// SPDX-License-Identifier: BSD-3-Clause
// What the model knows of interfaces that programs reach without the kernel: who copies, and what is in no cache.
#include <gtest/gtest.h>

#include "selection/cost_model.h"
#include "selection/priced_calls.h"

namespace hocket::selection {
namespace {

constexpr CostParameters kByKernel{.cores = 8,
                                   .beta_us_per_kib = 0.4,
                                   .wire_alpha_us = 1,
                                   .wire_overhead_us = 0.5,
                                   .wire_gap_us = 0.1,
                                   .wire_beta_us_per_kib = 1};

CostParameters fetching(double miss_us_per_kib) {
  CostParameters parameters = kByKernel;
  parameters.wire_dma = 1;
  parameters.wire_miss_us_per_kib = miss_us_per_kib;
  return parameters;
}

TEST(CostModelOfInterfaces, OneThatFetchesSparesTheCopiesAtBothEnds) {
  const Nodes nodes = Nodes::in_blocks({1, 1});
  const Query query = query_on(nodes, Collective::kBroadcast, 1 << 20);
  const double copied = price_of(query, "tree_mm", kByKernel);
  const double fetched = price_of(query, "tree_mm", fetching(0));
  EXPECT_NEAR(copied - fetched, 2 * 1024 * kByKernel.beta_us_per_kib, 1);
}

TEST(CostModelOfInterfaces, AProcessorThatWritesIntoOneHasNoTimeForTheNextMessage) {
  // With a lane for each rank and a long way, what counts is the time that the sender takes for its messages.
  const Nodes nodes = Nodes::in_blocks({1, 1, 1, 1, 1, 1, 1, 1});
  const Query query = query_on(nodes, Collective::kAlltoall, 1024);
  CostParameters parameters = fetching(0);
  const double fetched = price_of(query, "linear", parameters);
  parameters.wire_pio_bytes = 1023;
  EXPECT_EQ(price_of(query, "linear", parameters), fetched) << "the messages are longer";
  parameters.wire_pio_bytes = 1024;
  EXPECT_GT(price_of(query, "linear", parameters), fetched + 1);
  // Nor is what it writes copied first.
  parameters.wire_dma = 0;
  parameters.wire_miss_us_per_kib = 0;
  CostParameters copying = parameters;
  copying.beta_us_per_kib = 4;
  const double difference = price_of(query, "linear", copying) - price_of(query, "linear", parameters);
  EXPECT_NEAR(difference, 8 * (4 - kByKernel.beta_us_per_kib), 4) << "seven are copied when taken, and its own";
}

TEST(CostModelOfInterfaces, DistributionReadsWhatNoCacheHasAndAggregationDoesNot) {
  const Nodes nodes = Nodes::in_blocks({4, 4, 4, 4});
  for (const uint64_t bytes : {512ull, 4096ull}) {
    const Query query = query_on(nodes, Collective::kAlltoall, bytes);
    const auto dearer_by = [&](const char* spec, const CostParameters& with, const CostParameters& without) {
      return price_of(query, spec, with) - price_of(query, spec, without);
    };
    EXPECT_EQ(dearer_by("send_aggregation:across=linear", fetching(1), fetching(0)), 0) << bytes;
    EXPECT_EQ(dearer_by("linear", fetching(1), fetching(0)), 0) << bytes;
    // Blocks of twelve ranks come to each.
    const double kib = 12 * static_cast<double>(bytes) / 1024;
    EXPECT_NEAR(dearer_by("receive_distribution:across=linear", fetching(1), fetching(0)), kib, kib / 10) << bytes;
    // Bruck's algorithm copies what it gets, in either scheme.
    EXPECT_GT(dearer_by("send_aggregation:across=bruck", fetching(1), fetching(0)), kib / 2) << bytes;
    // Whoever copies on taking a message reads it then, in part while waiting for the next.
    CostParameters copying = kByKernel;
    copying.wire_miss_us_per_kib = 1;
    EXPECT_GT(dearer_by("send_aggregation:across=linear", copying, kByKernel), kib / 4) << bytes;
  }
}

TEST(CostModelOfInterfaces, ALeaderReadsWhatCameOnceHoweverItPassesItOn) {
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const Query query = query_on(nodes, Collective::kAlltoall, 16384);
  for (const char* spread : {"linear", "pairwise"}) {
    const std::string spec = std::string("leader:across=linear,spread=").append(spread);
    const double us = price_of(query, spec, fetching(1)) - price_of(query, spec, fetching(0));
    // Sixteen blocks, read by the leader or by four ranks at a time.
    EXPECT_GT(us, 4 * 16.0 - 1) << spec;
    EXPECT_LT(us, 16 * 16.0 * 1.1) << spec;
  }
}

TEST(CostModelOfInterfaces, CombiningWhatCameReadsIt) {
  const Nodes nodes = Nodes::in_blocks({1, 1});
  const Query query = query_on(nodes, Collective::kReduce, 1 << 16);
  EXPECT_NEAR(price_of(query, "tree_mm", fetching(1)) - price_of(query, "tree_mm", fetching(0)), 64, 0.1);
}

TEST(CostModelOfInterfaces, TakesMoreRanksWhereItIsToldTo) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(32, 4));
  const Query query = query_on(nodes, Collective::kAlltoall, 64);
  const Result<Spec> spec = parse_spec(query.collective, "linear");
  ASSERT_TRUE(spec.is_ok());
  const Result<Choice> choice = choose(query, Table(kByKernel), &spec.value());
  ASSERT_TRUE(choice.is_ok());
  const double some = PricedCall(query, choice.value()).us(kByKernel);
  const double all = PricedCall(query, choice.value(), {.most_ranks = 128}).us(kByKernel);
  EXPECT_NEAR(all / some, 2, 0.3) << "of 128 ranks 64 are priced unasked";
}

TEST(CostModelOfInterfaces, NoMessageWaitsForLaterOnesByTime) {
  // All messages of an exchange in one stage. Interfaces that are never idle take no longer than the messages do.
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  const Query query = query_on(nodes, Collective::kAlltoall, 2048);
  const Result<Spec> spec = parse_spec(query.collective, "linear");
  for (const uint32_t lanes : {1u, 2u, 4u}) {
    CostParameters parameters = fetching(0);
    parameters.wire_lanes = lanes;
    const Result<Choice> choice = choose(query, Table(parameters), &spec.value());
    ASSERT_TRUE(choice.is_ok());
    const double us = PricedCall(query, choice.value()).us(parameters);
    const double busy_us = 8 * 56 * (parameters.wire_gap_us + 2 * parameters.wire_beta_us_per_kib) / lanes;
    EXPECT_GE(us, busy_us) << lanes;
    EXPECT_LT(us, 1.2 * busy_us) << lanes;
  }
}

TEST(CostModelOfInterfaces, ReadsTheirParameters) {
  const CostParameters expected{.wire_dma = 1, .wire_pio_bytes = 512, .wire_miss_us_per_kib = 0.25};
  EXPECT_EQ(model_of("wire_dma=1 wire_pio_bytes=512 wire_miss_us_per_kib=0.25"), expected);
  EXPECT_NE(refusal_of_model("wire_dma=2").find("wire_dma= is a number from 0 to 1"), std::string::npos);
}

}  // namespace
}  // namespace hocket::selection
