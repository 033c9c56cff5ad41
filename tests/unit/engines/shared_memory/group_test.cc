// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/group.h"

#include <string>

#include "engines/shared_memory/ranks.h"

namespace hocket::engines::shared_memory {
namespace {

class GroupOfThree : public RanksOfAGroup {
 protected:
  void SetUp() override { open(3); }
  NodeGroup& group(uint32_t of) { return *rank(of).group; }
  const RankBlock& block(uint32_t of) { return *group(0).member(of).block; }
  bool is_parked(uint32_t of) { return block(of).parking.parked.load() != 0; }
};

TEST_F(GroupOfThree, WakesWhomItNames) {
  group(1).announce_sleep(RankBlock::kMessage);
  group(2).announce_sleep(RankBlock::kMessage);
  EXPECT_EQ(block(0).sleepers.load(), 2u);
  group(0).wake(1);
  EXPECT_FALSE(is_parked(1));
  EXPECT_TRUE(is_parked(2));
  constexpr int64_t kMinuteNs = 60'000'000'000;
  EXPECT_TRUE(group(1).sleep(kMinuteNs)) << "it was woken before it slept";
  EXPECT_FALSE(group(2).sleep(0)) << "the time is over";
  group(1).withdraw_sleep();
  group(2).withdraw_sleep();
  EXPECT_FALSE(is_parked(2));
  EXPECT_EQ(block(0).sleepers.load(), 0u);
}

TEST_F(GroupOfThree, WakesThoseOnlyWhoAwaitWhatHasHappened) {
  group(1).announce_sleep(1 + 2);
  group(2).announce_sleep(RankBlock::kAnything);
  group(0).wake_all(1 + 0);
  EXPECT_TRUE(is_parked(1)) << "it awaits rank 2's publication";
  EXPECT_FALSE(is_parked(2));
  group(0).wake_all(1 + 2);
  EXPECT_FALSE(is_parked(1));
  group(1).withdraw_sleep();
  group(2).withdraw_sleep();
}

TEST_F(GroupOfThree, IsBrokenByTheFirstReportForAll) {
  group(1).announce_sleep(RankBlock::kMessage);
  EXPECT_EQ(group(2).broken(), 0u);
  group(0).report_broken(2);
  EXPECT_FALSE(is_parked(1)) << "whatever it awaits";
  group(2).report_broken(0);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(group(i).broken(), 1 + 2u);
  EXPECT_EQ(group(1).reason(), "");
  group(1).withdraw_sleep();
}

TEST_F(GroupOfThree, TellsAllTheFirstMismatch) {
  const std::string reason(2 * RankBlock::kReasonBytes, 'x');
  group(2).report_reason(RankBlock::kMismatch, reason);
  group(1).report_reason(RankBlock::kLate, "another");
  EXPECT_EQ(group(0).broken(), RankBlock::kMismatch);
  EXPECT_EQ(group(0).reason(), reason.substr(0, RankBlock::kReasonBytes - 1)) << "as much as there is room for";
}

TEST_F(GroupOfThree, SaysNothingOfAMismatchAfterAnotherFailure) {
  group(1).report_broken(0);
  group(2).report_reason(RankBlock::kLate, "too late");
  EXPECT_EQ(group(0).broken(), 1 + 0u);
  EXPECT_EQ(group(0).reason(), "");
}

#ifdef HOCKET_ASSERTIONS
using GroupDeathTest = GroupOfThree;

TEST_F(GroupDeathTest, HasNoOtherRanks) {
  EXPECT_DEATH((void)group(0).name_of(3), "a rank of a group is below its size");
}

TEST_F(GroupDeathTest, CountsSleepersOut) {
  EXPECT_DEATH(group(0).withdraw_sleep(), "who withdraws has announced its sleep");
}
#endif

}  // namespace
}  // namespace hocket::engines::shared_memory
