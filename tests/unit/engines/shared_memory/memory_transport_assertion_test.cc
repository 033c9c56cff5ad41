// SPDX-License-Identifier: BSD-3-Clause
// What lanes and executions assert, where that is on.
#include "engines/shared_memory/ranks.h"

namespace hocket::engines::shared_memory {
namespace {

#ifdef HOCKET_ASSERTIONS

using schedule::StepKind;

class MemoryTransportDeathTest : public RanksOfAGroup {
 protected:
  void SetUp() override { open(2); }
  void run(Instruction step) {
    rank(0).start({step});
    (void)rank(0).is_done();
  }
};

TEST_F(MemoryTransportDeathTest, KnowsNoPeersBeyondTheGroup) {
  for (const StepKind kind : {StepKind::kSend, StepKind::kReceive, StepKind::kGet, StepKind::kAdd})
    EXPECT_DEATH(run(step_of(kind, 2, 8)), "a step's peer is in this group");
}

TEST_F(MemoryTransportDeathTest, KnowsNoSlotsAndCountersBeyondTheSets) {
  Instruction publish = step_of(StepKind::kPublish, 0, 8);
  publish.slot = schedule::kMaxSlots;
  EXPECT_DEATH(run(publish), "a step names one of the slots that there are");
  Instruction add = counter_step(StepKind::kAdd, 1, 1);
  add.slot = schedule::kMaxCounters;
  EXPECT_DEATH(run(add), "a step names one of the counters that there are");
}

TEST_F(MemoryTransportDeathTest, IsOneOfSoMany) {
  EXPECT_DEATH((void)MemoryTransport::create(*rank(0).group, kLanes).is_ok(), "a group has kLanes lanes");
}

TEST_F(MemoryTransportDeathTest, FinishesOnlyWhatHasStarted) {
  EXPECT_DEATH((void)rank(0).lane->finish(), "a call that finishes has started");
}

TEST_F(MemoryTransportDeathTest, AnExecutionIsAdvancedWhileItRuns) {
  EXPECT_DEATH((void)rank(0).execution.advance(), "a call is advanced that has started and is not over");
  run(step_of(StepKind::kPublish, 0, 8));
  EXPECT_DEATH((void)rank(0).execution.advance(), "a call is advanced that has started and is not over");
}

TEST_F(MemoryTransportDeathTest, AProgramEndsItsLastStage) {
  Instruction open_stage = step_of(StepKind::kPublish, 0, 8);
  open_stage.ends_stage = false;
  EXPECT_DEATH(run(open_stage), "a program ends its last stage");
}

#endif

}  // namespace
}  // namespace hocket::engines::shared_memory
