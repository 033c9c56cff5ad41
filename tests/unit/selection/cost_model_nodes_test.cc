// SPDX-License-Identifier: BSD-3-Clause
// The model over several nodes: what messages between them cost, and which scheme that makes the best.
#include <gtest/gtest.h>

#include <cmath>

#include "selection/cost_model.h"
#include "selection/priced_calls.h"

namespace hocket::selection {
namespace {

std::string best(const Query& query, const CostParameters& parameters) {
  return std::string(cheapest_spec(query, parameters).algorithm->name);
}

// An interface that processors drive, and several drive better; one that does it all itself, and that several ranks
// disturb; and the defaults, TCP over Ethernet.
const CostParameters kHostDriven{.cores = 8,
                                 .wire_alpha_us = 2,
                                 .wire_overhead_us = 1,
                                 .wire_gap_us = 0.3,
                                 .wire_beta_us_per_kib = 4,
                                 .wire_lanes = 4};
const CostParameters kOffload{.cores = 8,
                              .wire_alpha_us = 4,
                              .wire_overhead_us = 0.3,
                              .wire_gap_us = 0.3,
                              .wire_beta_us_per_kib = 0.6,
                              .wire_lanes = 1,
                              .wire_crowding = 0.15};
const CostParameters kTcp{.cores = 8};

TEST(CostModelOverNodes, WalksEverySchemeToItsEnd) {
  for (const Nodes& nodes :
       {Nodes::in_blocks({4, 4}), Nodes::in_blocks({3, 1, 4}), Nodes::in_blocks({1, 1, 1}), Nodes::in_blocks({2, 9})})
    for (const algorithms::Algorithm* algorithm : algorithms::all())
      for (const uint64_t bytes : {0ull, 8ull, 100000ull})
        for (const bool oversubscribed : {false, true}) {
          const Query query = query_on(nodes, algorithm->collective, bytes, oversubscribed);
          if (!why_not(query, Spec{algorithm}).empty()) continue;
          for (const uint32_t one_machine : {0u, 1u}) {
            CostParameters parameters = kTcp;
            parameters.one_machine = one_machine;
            const double us = price_of(query, std::string(algorithm->name), parameters);
            EXPECT_TRUE(std::isfinite(us) && us > 0) << name(algorithm->collective) << " " << algorithm->name;
          }
        }
}

TEST(CostModelOverNodes, EveryParameterOfTheWireCountsWhereItShould) {
  const Nodes nodes = Nodes::in_blocks({4, 4, 4});
  const Query small = query_on(nodes, Collective::kAlltoall, 8);
  const Query large = query_on(nodes, Collective::kAlltoall, 1 << 16);
  const auto with = [](const auto& change) {
    CostParameters parameters = kTcp;
    change(parameters);
    return parameters;
  };
  const auto dearer_alpha = with([](CostParameters& p) { p.wire_alpha_us *= 4; });
  EXPECT_GT(price_of(small, "leader", dearer_alpha), price_of(small, "leader", kTcp) + 2.9 * kTcp.wire_alpha_us);
  const auto dearer_overhead = with([](CostParameters& p) { p.wire_overhead_us *= 4; });
  EXPECT_GT(price_of(small, "linear", dearer_overhead), 1.5 * price_of(small, "linear", kTcp))
      << "eight messages a rank";
  const auto dearer_gap = with([](CostParameters& p) { p.wire_gap_us *= 4; });
  EXPECT_GT(price_of(small, "linear", dearer_gap), 1.5 * price_of(small, "linear", kTcp)) << "32 messages a node";
  const auto dearer_beta = with([](CostParameters& p) { p.wire_beta_us_per_kib *= 2; });
  EXPECT_GT(price_of(large, "linear", dearer_beta), 1.8 * price_of(large, "linear", kTcp));
  const auto more_lanes = with([](CostParameters& p) { p.wire_lanes = 4; });
  EXPECT_LT(price_of(large, "linear", more_lanes), 0.5 * price_of(large, "linear", kTcp));
  EXPECT_EQ(price_of(large, "leader", more_lanes), price_of(large, "leader", kTcp)) << "a leader has but one";
  const auto crowding = with([](CostParameters& p) { p.wire_crowding = 0.5; });
  EXPECT_GT(price_of(large, "linear", crowding), 2 * price_of(large, "linear", kTcp)) << "three ranks beyond the one";
  EXPECT_EQ(price_of(large, "leader", crowding), price_of(large, "leader", kTcp));
}

TEST(CostModelOverNodes, OneNodeKnowsNothingOfWires) {
  const Query query{.collective = Collective::kAlltoall, .bytes = 4096, .ranks = 8, .element_bytes = 8};
  for (const char* spec : {"linear", "bruck", "direct"})
    EXPECT_EQ(price_of(query, spec, kOffload), price_of(query, spec, CostParameters{.cores = 8})) << spec;
}

TEST(CostModelOverNodes, RanksShareTheCoresOfTheirNodeAndOfOneMachineAllCores) {
  const CostParameters apart{.cores = 2, .wire_alpha_us = 1, .wire_overhead_us = 1};
  CostParameters together = apart;
  together.one_machine = 1;
  const Nodes two = Nodes::in_blocks({4, 4});
  const Query query = query_on(two, Collective::kBarrier, 0, true);
  EXPECT_GT(price_of(query, "dissemination", together), price_of(query, "dissemination", apart));
  // Nobody asked whether nodes on one machine are oversubscribed each: together they are.
  const Nodes single = Nodes::in_blocks({1, 1, 1, 1});
  EXPECT_GT(price_of(query_on(single, Collective::kBarrier, 0), "dissemination", together),
            price_of(query_on(single, Collective::kBarrier, 0), "dissemination", apart));
  // The leaders alone are run by the scheduler between the two steps within nodes.
  EXPECT_LT(price_of(query, "leader", together), price_of(query, "dissemination", together));
}

TEST(CostModelOverNodes, FewMessagesForShortBlocksLanesForMiddlingAndNoDetourForLong) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  const auto alltoall = [&](uint64_t bytes) { return query_on(nodes, Collective::kAlltoall, bytes); };
  // By a leader, or by two lanes, which are as few.
  const Spec is_short = cheapest_spec(alltoall(8), kTcp);
  EXPECT_LE(is_short.degree, 2u) << to_text(is_short);
  EXPECT_LT(price_of(alltoall(8), "leader", kTcp), 0.7 * price_of(alltoall(8), "send_aggregation", kTcp));
  const std::string middling = best(alltoall(16 << 10), kTcp);
  EXPECT_TRUE(middling == "send_aggregation" || middling == "receive_distribution") << middling;
  const std::string is_long = best(alltoall(256 << 10), kTcp);
  EXPECT_TRUE(is_long == "pairwise" || is_long == "linear") << is_long;
  // What all have in common: a message to every rank costs most where blocks are short.
  for (const CostParameters& parameters : {kTcp, kHostDriven, kOffload})
    for (const char* scheme : {"leader", "send_aggregation", "receive_distribution"})
      EXPECT_LT(price_of(alltoall(8), scheme, parameters), price_of(alltoall(8), "linear", parameters)) << scheme;
}

TEST(CostModelOverNodes, AnInterfaceDrivenByTheHostGainsByAllCoresSending) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  for (const uint64_t bytes : {64ull, 512ull, 2048ull}) {
    const Query query = query_on(nodes, Collective::kAlltoall, bytes);
    const double all_cores = price_of(query, "send_aggregation", kHostDriven);
    EXPECT_LT(all_cores, 0.5 * price_of(query, "leader", kHostDriven)) << bytes;
    EXPECT_LT(price_of(query, "leader:leaders=2", kHostDriven), price_of(query, "leader", kHostDriven)) << bytes;
    EXPECT_LT(all_cores, price_of(query, "pairwise", kHostDriven)) << bytes;
  }
  const Query large = query_on(nodes, Collective::kAllreduce, 1 << 20);
  EXPECT_LT(price_of(large, "lanes", kHostDriven), 0.6 * price_of(large, "leader", kHostDriven));
}

TEST(CostModelOverNodes, AnInterfaceThatSeveralRanksDisturbIsBestServedByALeader) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  for (const uint64_t bytes : {8ull, 64ull, 4096ull, 65536ull}) {
    const Query query = query_on(nodes, Collective::kAlltoall, bytes);
    EXPECT_EQ(best(query, kOffload), "leader") << bytes;
    EXPECT_LT(price_of(query, "leader", kOffload), price_of(query, "send_aggregation", kOffload)) << bytes;
  }
}

TEST(CostModelOverNodes, SendAggregationAndReceiveDistributionCostAlikeWhereCopiesDo) {
  const Nodes nodes = Nodes::in_blocks({4, 4, 4, 4});
  for (const uint64_t bytes : {64ull, 4096ull}) {
    const Query query = query_on(nodes, Collective::kAlltoall, bytes);
    const double ratio = price_of(query, "send_aggregation", kTcp) / price_of(query, "receive_distribution", kTcp);
    EXPECT_NEAR(ratio, 1, 0.1) << bytes;
  }
}

TEST(PredictOverNodes, KnowsLayoutsApart) {
  const Table table{kTcp};
  const Nodes even = Nodes::in_blocks({4, 4});
  const Nodes uneven = Nodes::in_blocks({7, 1});
  const Query query = query_on(even, Collective::kAlltoall, 64);
  const double us = predict(query, table).front().us;
  EXPECT_NE(predict(query_on(uneven, Collective::kAlltoall, 64), table).front().us, us);
  EXPECT_EQ(predict(query, table).front().us, us);
  EXPECT_NE(
      predict({.collective = Collective::kAlltoall, .bytes = 64, .ranks = 8, .element_bytes = 8}, table).front().us,
      us);
}

// Communicators of one process share a table. On another rank's process the first may never have been.
TEST(PredictOverNodes, WhatIsKeptDependsOnMulticastToo) {
  const std::string text =
      "hocket-table 1\nmodel wire_alpha_us=25 wire_overhead_us=3\nbroadcast nodes=2.. ppn=..1 multicast\n";
  const Nodes nodes = Nodes::in_blocks({2, 2, 2, 2, 2, 2, 2, 2});
  Query without = query_on(nodes, Collective::kBroadcast, 512);
  Query with = without;
  with.why_no_multicast = "";
  const auto us_of_leader = [](const Query& query, const Table& table) {
    for (const Prediction& one : predict(query, table))
      if (to_text(one.spec) == "leader") return one.us;
    return -1.0;
  };
  const Table asked_before = Table::parse(text, "a test").take();
  const double slow_us = us_of_leader(without, asked_before);
  const double quick_us = us_of_leader(with, asked_before);
  EXPECT_EQ(us_of_leader(with, Table::parse(text, "a test").take()), quick_us);
  EXPECT_GT(quick_us, 0);
  EXPECT_NE(slow_us, quick_us);
}

TEST(PredictOverNodes, ServesMoreRanksAndNodesThanItPrices) {
  for (const Nodes& nodes :
       {Nodes::in_blocks(std::vector<uint32_t>(64, 8)), Nodes::in_blocks(std::vector<uint32_t>(2, 300)),
        Nodes::in_blocks(std::vector<uint32_t>(500, 1)), Nodes::in_blocks({1, 400, 3})})
    for (const bool oversubscribed : {false, true}) {
      const std::vector<Prediction> many = predict(query_on(nodes, Collective::kAllreduce, 1024, oversubscribed), kTcp);
      ASSERT_FALSE(many.empty());
      EXPECT_TRUE(std::isfinite(many.front().us));
    }
}

TEST(Model, ReadsTheParametersOfTheWire) {
  const CostParameters expected{.wire_alpha_us = 5,
                                .wire_overhead_us = 2,
                                .wire_gap_us = 0.5,
                                .wire_beta_us_per_kib = 0.3,
                                .wire_lanes = 2,
                                .wire_crowding = 0.1,
                                .one_machine = 1};
  EXPECT_EQ(model_of("wire_alpha_us=5 wire_overhead_us=2 wire_gap_us=0.5 wire_beta_us_per_kib=0.3 wire_lanes=2 "
                     "wire_crowding=0.1 one_machine=1"),
            expected);
  EXPECT_NE(refusal_of_model("wire_lanes=0").find("wire_lanes= is a number from 1 to"), std::string::npos);
  EXPECT_NE(refusal_of_model("one_machine=2").find("one_machine= is a number from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal_of_model("wire_alfa_us=2").find("wire_alpha_us="), std::string::npos);
  EXPECT_NE(refusal_of_model("wire_gap_us=1 wire_gap_us=1").find("twice"), std::string::npos);
}

}  // namespace
}  // namespace hocket::selection
