// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/given_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "schedule/verifier/verifier.h"

namespace hocket::algorithms {
namespace {

using schedule::Collective;

// Of any shape: each rank below one of those that are in it already.
std::vector<uint32_t> random_tree(uint32_t size, std::mt19937_64& dice) {
  std::vector<uint32_t> order(size);
  for (uint32_t i = 0; i < size; ++i) order[i] = i;
  std::shuffle(order.begin() + 1, order.end(), dice);
  std::vector<uint32_t> parents(size);
  for (uint32_t i = 1; i < size; ++i) parents[order[i]] = order[dice() % i];
  return parents;
}

std::string text_of(const std::vector<uint32_t>& parents) {
  std::string text;
  for (const uint32_t parent : parents) text += (text.empty() ? "" : ".") + std::to_string(parent);
  return text;
}

TEST(GivenTree, IsGoneAlongByEveryCollectiveToEveryRoot) {
  std::mt19937_64 dice(1);
  for (uint32_t size = 1; size <= 40; ++size) {
    const std::vector<uint32_t> parents = random_tree(size, dice);
    const Result<uint32_t> number = parse_given_tree(text_of(parents));
    ASSERT_TRUE(number.is_ok()) << number.status().message();
    EXPECT_EQ(given_tree_to_text(number.value()), text_of(parents));
    EXPECT_EQ(ranks_of_given_tree(number.value()), size);
    for (const Collective collective : {Collective::kReduce, Collective::kBroadcast, Collective::kAllreduce}) {
      const uint32_t root = schedule::has_root(collective) ? size / 3 : 0;
      const auto turned = [&](uint32_t rank) { return (rank + size - root) % size; };
      std::vector<schedule::Plan> plans;
      uint64_t messages = 0;
      for (uint32_t rank = 0; rank < size; ++rank) {
        plans.push_back(make_plan(*find(collective, "parents"),
                                  {.size = size, .rank = rank, .root = root, .degree = number.value()}));
        for (const schedule::Step& step : plans.back().steps) {
          if (step.kind != schedule::StepKind::kSend) continue;
          ++messages;
          const uint32_t one = turned(rank);
          const uint32_t other = turned(step.peer);
          ASSERT_TRUE(parents[one] == other || parents[other] == one) << "a message besides the tree";
        }
      }
      EXPECT_EQ(messages, (size - 1) * (collective == Collective::kAllreduce ? 2 : 1));
      const schedule::Report report = schedule::verify(plans, {.count = 3});
      ASSERT_TRUE(report.is_correct()) << size << " ranks, " << schedule::name(collective) << ": " << report.text();
    }
  }
}

TEST(GivenTree, EqualListsHaveOneNumber) {
  const uint32_t one = parse_given_tree("0.0.1").value();
  EXPECT_NE(parse_given_tree("0.0.0").value(), one);
  EXPECT_EQ(parse_given_tree("0.0.1").value(), one);
}

TEST(GivenTree, IsRefusedWhereItIsNone) {
  const auto flaw = [](const char* text) {
    const Result<uint32_t> number = parse_given_tree(text);
    return number.is_ok() ? std::string() : number.status().message();
  };
  EXPECT_EQ(flaw("0"), "");
  EXPECT_EQ(flaw("0.0.1"), "");
  for (const char* text : {"", ".", "0.", ".0", "0..1", "0.x", "0.-1", "0,0", "0.4294967296", "0x0"})
    EXPECT_NE(flaw(text).find("a list of each rank's parent"), std::string::npos) << text << ": " << flaw(text);
  EXPECT_NE(flaw("1.0").find("rank 0, is the root"), std::string::npos);
  EXPECT_NE(flaw("0.0.3").find("rank 2 has parent 3"), std::string::npos);
  EXPECT_NE(flaw("0.1").find("rank 1 has no way"), std::string::npos);
  EXPECT_NE(flaw("0.2.3.1.0").find("rank 1 has no way"), std::string::npos);
}

}  // namespace
}  // namespace hocket::algorithms
