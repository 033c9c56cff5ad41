// SPDX-License-Identifier: BSD-3-Clause
#include "selection/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "selection/priced_calls.h"

namespace hocket::selection {
namespace {

const CostParameters kMachine{
    .cores = 2, .alpha_us = 0.1, .beta_us_per_kib = 0.02, .gamma_us_per_kib = 0.03, .switch_us = 0.7};

double price_of(const Query& query, const char* spec) { return price_of(query, spec, kMachine); }

// Calls `test(query, spec)` for everything that can serve, small and large, with and without a core for each rank.
template <typename Test>
void for_all_schedules(uint64_t bytes, Test test) {
  for (const algorithms::Algorithm* algorithm : algorithms::all())
    for (uint32_t ranks : {1u, 2u, 3u, 7u, 16u})
      for (bool oversubscribed : {false, true}) {
        const Query query = call_of(algorithm->collective, bytes, ranks, oversubscribed && ranks > 1);
        const Spec spec{algorithm};
        if (why_not(query, spec).empty()) test(query, to_text(spec));
      }
}

TEST(CostModel, WalksEveryScheduleToItsEnd) {
  for (uint64_t bytes : {0ull, 8ull, 1000ull, 1048576ull})
    for_all_schedules(bytes, [](const Query& query, const std::string& spec) {
      const double us = price_of(query, spec.c_str());
      EXPECT_TRUE(std::isfinite(us) && us >= 0) << name(query.collective) << " " << spec << " on " << query.ranks;
      if (query.ranks > 1) {
        EXPECT_GT(us, 0) << name(query.collective) << " " << spec;
      }
    });
}

TEST(CostModel, LongerMessagesCostMore) {
  std::map<std::string, double> last;
  for (uint64_t bytes : {8ull, 64ull, 512ull, 4096ull, 32768ull, 262144ull, 1048576ull, 8388608ull})
    for_all_schedules(bytes, [&](const Query& query, const std::string& spec) {
      if (query.collective == Collective::kBarrier || query.ranks == 1) return;
      const std::string key = std::string(name(query.collective)) + " " + spec + " on " + std::to_string(query.ranks) +
                              (query.oversubscribed ? " crowded" : "");
      const double us = price_of(query, spec.c_str());
      if (last.contains(key)) {
        // Where ranks share cores, who looks when is chance: a longer copy may spare somebody a look in vain.
        EXPECT_GE(us, last[key] * (query.oversubscribed ? 0.8 : 0.999)) << key << ", " << bytes << " bytes";
      }
      last[key] = us;
    });
}

TEST(CostModel, WhatNoMemoryHoldsIsPricedInProportion) {
  for (const bool is_crowded : {false, true}) {
    const double us = price_of(call_of(Collective::kAlltoall, uint64_t{1} << 36, 64, is_crowded), "linear");
    const double longest = price_of(call_of(Collective::kAlltoall, uint64_t{1} << 56, 64, is_crowded), "linear");
    EXPECT_NEAR(longest / us, 1 << 20, 1000) << is_crowded;
  }
}

TEST(CostModel, EveryParameterCountsWhereItShould) {
  const Query small = call_of(Collective::kAllreduce, 8, 8, true);
  const Query large = call_of(Collective::kAllreduce, 1 << 20, 8, false);
  CostParameters dearer = kMachine;
  dearer.alpha_us *= 4;
  EXPECT_GT(price_of(small, "direct", dearer), price_of(small, "direct"));
  dearer = kMachine;
  dearer.switch_us *= 4;
  EXPECT_GT(price_of(small, "direct", dearer), 2 * price_of(small, "direct"));
  EXPECT_EQ(price_of(large, "ring", dearer), price_of(large, "ring")) << "nobody hands a core on";
  dearer = kMachine;
  dearer.beta_us_per_kib *= 4;
  EXPECT_GT(price_of(large, "ring", dearer), 1.5 * price_of(large, "ring"));
  dearer = kMachine;
  dearer.gamma_us_per_kib *= 4;
  EXPECT_GT(price_of(large, "ring", dearer), 1.2 * price_of(large, "ring"));
  dearer = kMachine;
  dearer.cores = 4;
  EXPECT_LT(price_of(small, "direct", dearer), price_of(small, "direct")) << "more cores, fewer rounds";
}

TEST(CostModel, PrefersFewRoundsWhereCoresAreShort) {
  for (uint32_t ranks : {4u, 8u, 16u}) {
    const Query barrier = call_of(Collective::kBarrier, 0, ranks, true);
    EXPECT_LT(price_of(barrier, "signal"), price_of(barrier, "dissemination")) << ranks;
    EXPECT_LT(price_of(barrier, "signal"), price_of(barrier, "tree:degree=2")) << ranks;
    const Query allreduce = call_of(Collective::kAllreduce, 8, ranks, true);
    EXPECT_LT(price_of(allreduce, "direct"), price_of(allreduce, "ring")) << ranks;
  }
}

TEST(CostModel, PrefersSharedWorkWhereMessagesAreLong) {
  const Query query = call_of(Collective::kAllreduce, 4 << 20, 16, false);
  for (const char* shares : {"ring", "reduce_scatter_allgather", "pieces"})
    for (const char* repeats : {"direct", "recursive_doubling"})
      EXPECT_LT(price_of(query, shares), price_of(query, repeats)) << shares << " " << repeats;
}

TEST(CostModel, PrefersLogarithmicDepthForShortMessagesOnManyCores) {
  const Query query = call_of(Collective::kAllreduce, 8, 64, false);
  EXPECT_LT(price_of(query, "recursive_doubling"), price_of(query, "ring"));
  EXPECT_LT(price_of(query, "recursive_doubling"), price_of(query, "direct"));
  const Query barrier = call_of(Collective::kBarrier, 0, 64, false);
  EXPECT_LT(price_of(barrier, "dissemination"), price_of(barrier, "one_to_all"));
}

TEST(Predict, GivesEverythingThatCanServeInTheOrderOfItsPrice) {
  Query query = call_of(Collective::kAllreduce, 4096, 8, true);
  const std::vector<Prediction> all = predict(query, kMachine);
  ASSERT_GT(all.size(), 3u);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i - 1].us, all[i].us);
  query.commutative = false;
  const std::vector<Prediction> ordered = predict(query, kMachine);
  EXPECT_LT(ordered.size(), all.size());
  for (const Prediction& one : ordered) EXPECT_TRUE(one.spec.algorithm->can_keep_order) << to_text(one.spec);
}

TEST(Predict, SaysTheSameWheneverItIsAsked) {
  for (bool oversubscribed : {false, true}) {
    const Query query = call_of(Collective::kReduce, 65536, 13, oversubscribed);
    const std::vector<Prediction> once = predict(query, kMachine);
    const std::vector<Prediction> again = predict(query, kMachine);
    ASSERT_EQ(once.size(), again.size());
    for (size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(once[i].spec, again[i].spec);
      EXPECT_EQ(once[i].us, again[i].us);
    }
  }
}

TEST(Predict, ServesMoreRanksThanItPrices) {
  for (bool oversubscribed : {false, true}) {
    const std::vector<Prediction> many = predict(call_of(Collective::kBarrier, 0, 100000, oversubscribed), kMachine);
    ASSERT_FALSE(many.empty());
    EXPECT_TRUE(std::isfinite(many.front().us));
  }
}

}  // namespace
}  // namespace hocket::selection
