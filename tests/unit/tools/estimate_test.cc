// SPDX-License-Identifier: BSD-3-Clause
#include "words/estimate.h"

#include <gtest/gtest.h>

namespace hocket::command {
namespace {

TEST(Estimate, KnowsNothingBeforeAPieceIsDone) {
  const Estimate estimate(8);
  EXPECT_LT(estimate.left_s(), 0);
  EXPECT_EQ(estimate.text(), "  0 %");
}

TEST(Estimate, TakesWhatIsLeftForAsSlowAsWhatIsDone) {
  Estimate estimate(8);
  estimate.add(2, 600);
  EXPECT_EQ(estimate.share(), 0.25);
  EXPECT_EQ(estimate.left_s(), 1800);
  EXPECT_EQ(estimate.text(), " 25 %, 30 min left");
  estimate.add(6, 10);
  EXPECT_EQ(estimate.left_s(), 0);
  EXPECT_EQ(estimate.text(), "100 %, 0 s left");
}

TEST(Estimate, OfNothingIsDone) { EXPECT_EQ(Estimate(0).share(), 1); }

TEST(TimeText, IsInTheUnitThatFits) {
  EXPECT_EQ(time_text(0.4), "0 s");
  EXPECT_EQ(time_text(119), "119 s");
  EXPECT_EQ(time_text(150), "3 min");
  EXPECT_EQ(time_text(7199), "2 h 0 min");
  EXPECT_EQ(time_text(7500), "2 h 5 min");
}

}  // namespace
}  // namespace hocket::command
