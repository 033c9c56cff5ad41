// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/message_survey.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hocket::communicator {
namespace {

constexpr uint64_t kMostFew = 10;

void answer(MessageSurvey& survey, int64_t messages) {
  std::memcpy(survey.all(), &messages, sizeof messages);
  survey.learn(kMostFew);
}

// After how many calls that don't ask the next one does.
int calls_until_due(MessageSurvey& survey) {
  int calls = 0;
  while (!survey.is_due()) ++calls;
  return calls;
}

TEST(MessageSurvey, AsksInTheFirstCallAndLessOftenWhileTheAnswerStays) {
  MessageSurvey survey;
  EXPECT_FALSE(survey.are_many());
  std::vector<int> between;
  for (int i = 0; i < 9; ++i) {
    between.push_back(calls_until_due(survey));
    answer(survey, 3);
  }
  EXPECT_EQ(between, (std::vector<int>{0, 1, 2, 4, 8, 16, 32, 64, 64}));
  EXPECT_FALSE(survey.are_many());
}

TEST(MessageSurvey, AsksAgainSoonWhenTheAnswerHasChanged) {
  MessageSurvey survey;
  for (int i = 0; i < 5; ++i) {
    calls_until_due(survey);
    answer(survey, static_cast<int64_t>(kMostFew));
  }
  EXPECT_FALSE(survey.are_many());
  EXPECT_EQ(calls_until_due(survey), 16);
  answer(survey, static_cast<int64_t>(kMostFew) + 1);
  EXPECT_TRUE(survey.are_many());
  EXPECT_EQ(calls_until_due(survey), 1);
}

TEST(MessageSurvey, CountsShortMessagesToOtherNodes) {
  const uint64_t labels[] = {0, 0, 1, 1, 1};
  const schedule::Nodes nodes(labels);
  schedule::Plan plan;
  plan.shape = {.size = 5, .rank = 1, .nodes = &nodes};
  const uint64_t counts[] = {7, 7, 0, 8, 9};
  const schedule::BlockVector blocks{counts, nullptr};
  schedule::Extents extents;
  extents.input = &blocks;
  MessageSurvey survey;
  survey.count(plan, extents, 8);
  int64_t own = 0;
  std::memcpy(&own, survey.own(), sizeof own);
  EXPECT_EQ(own, 1) << "none on its own node, none of nothing, none that is too long";
}

}  // namespace
}  // namespace hocket::communicator
