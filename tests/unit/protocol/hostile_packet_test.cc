// SPDX-License-Identifier: BSD-3-Clause
// What enemies send, one packet at a time.
#include <gtest/gtest.h>

#include <cstring>

#include "victim_engine.h"

namespace hocket::test {
namespace {

// A member of two whose only program wants acknowledgements: sends to member 1 at once, waits for it.
Victim pair_with_acknowledgements() {
  Victim victim;
  nic_group& group = victim.group;
  group.size = 2;
  group.programs = 1;
  group.program[0].flags = NIC_ACKNOWLEDGED;
  group.program[0].stages = group.program[0].sends = group.program[0].arrivals = 1;
  group.program[0].all = NIC_STARTED | 1;
  group.program[0].need[0] = NIC_STARTED;
  group.program[0].end_send[0] = 1;
  group.program[0].send[0].member = group.program[0].arrival[0].member = 1;
  victim.signs_of_life.resize(2);
  return victim;
}

nic_message from_member_1(uint8_t kind, uint64_t epoch) {
  nic_message message{};
  message.epoch = epoch;
  message.source = 1;
  message.kind = kind;
  return message;
}

nic_verdict take(Victim& victim, const nic_message& message, const nic_operand& operand = {}) {
  return nic_take(&victim.group, &victim.state, victim.memory(), &message, &operand).verdict;
}

nic_verdict start(Victim& victim, const nic_message& doorbell, const nic_operand& operand = {}) {
  return nic_start(&victim.group, &victim.state, victim.memory(), &doorbell, &operand).verdict;
}
nic_verdict start(Victim& victim, uint64_t epoch) { return start(victim, from_member_1(NIC_DOORBELL, epoch)); }

// Completes operations up to `last`.
void run_until(Victim& victim, uint64_t last) {
  for (uint64_t epoch = victim.state.started + 1; epoch <= last; ++epoch) {
    ASSERT_EQ(start(victim, epoch), NIC_TAKEN);
    ASSERT_EQ(take(victim, from_member_1(NIC_MESSAGE, epoch)), NIC_TAKEN);
  }
}

TEST(NicAcknowledgement, OfLongAgoIsNotTakenForALaterOne) {
  Victim victim = pair_with_acknowledgements();
  constexpr uint64_t kHalf = uint64_t{NIC_WINDOW} * NIC_ROUNDS / 2;
  run_until(victim, kHalf + 2 * NIC_WINDOW + 5);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 5)), NIC_STALE);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 0)), NIC_STALE);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, victim.state.started)), NIC_TAKEN);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, victim.state.started)), NIC_DUPLICATE);
}

TEST(NicAcknowledgement, IsTakenAfterManyOperationsWithoutAny) {
  Victim victim = pair_with_acknowledgements();
  run_until(victim, uint64_t{NIC_WINDOW} * NIC_ROUNDS / 2 + NIC_WINDOW);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, victim.state.started)), NIC_TAKEN);
}

TEST(NicAcknowledgement, OfWhatHasNotGoneOutIsNotExpected) {
  Victim victim = pair_with_acknowledgements();
  victim.group.program[0].need[0] = NIC_STARTED | 1;
  ASSERT_EQ(start(victim, 1), NIC_TAKEN);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_NOT_EXPECTED);
  EXPECT_EQ(take(victim, from_member_1(NIC_MESSAGE, 1)), NIC_TAKEN);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_TAKEN);
  victim.group.program[0].flags = 0;
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_NOT_EXPECTED);
}

// The same with a sum beside the barrier: program 1, each sends the other what its host has given.
Victim pair_with_a_sum() {
  Victim victim = pair_with_acknowledgements();
  nic_program& barrier = victim.group.program[0];
  barrier.flags = 0;
  barrier.arrival[0].operand = NIC_NO_OPERAND;
  nic_program& sum = victim.group.program[victim.group.programs++];
  sum = barrier;
  sum.all |= NIC_PUBLISHED;
  sum.operands = sum.folds = victim.group.operands = 2;
  sum.fold[1] = 1;
  sum.result.content.end = 2;
  sum.result.slice = sum.send[0].slice = sum.arrival[0].slice = NIC_WHOLE;
  sum.send[0].content.end = 1;
  sum.arrival[0].operand = 1;
  victim.group.unexpected = NIC_WINDOW;
  victim.operands.resize(2 * NIC_WINDOW + 2 * Victim::kBeside);
  return victim;
}

nic_message sum_of_words(uint8_t kind, uint64_t epoch, uint8_t words) {
  nic_message message = from_member_1(kind, epoch);
  message.program = 1;
  message.words = message.carried = words;
  message.operation = NIC_SUM;
  message.type = NIC_INT64;
  return message;
}

// What only operations with content write in a state may be of any age.
TEST(NicContentOfAges, IsTakenAfterManyOperationsWithoutAny) {
  constexpr uint64_t kHalf = uint64_t{NIC_WINDOW} * NIC_ROUNDS / 2;
  for (const uint64_t barriers : {kHalf - 1, kHalf + 1, kHalf + NIC_WINDOW, 2 * kHalf - 1, 2 * kHalf + 1}) {
    SCOPED_TRACE(barriers);
    Victim victim = pair_with_a_sum();
    for (const uint64_t between : {barriers, barriers}) {
      run_until(victim, victim.state.started + between);
      const uint64_t epoch = victim.state.started + 1;
      ASSERT_EQ(take(victim, sum_of_words(NIC_MESSAGE, epoch, 3)), NIC_TAKEN);
      ASSERT_EQ(take(victim, sum_of_words(NIC_MESSAGE, epoch, 3)), NIC_DUPLICATE);
      ASSERT_EQ(start(victim, sum_of_words(NIC_DOORBELL, epoch, 3)), NIC_TAKEN);
      (void)nic_published(&victim.group, &victim.state, 1, epoch);
      ASSERT_EQ(victim.state.completed, epoch);
      ASSERT_EQ(start(victim, sum_of_words(NIC_DOORBELL, epoch + 1, 4)), NIC_TAKEN);
      ASSERT_EQ(take(victim, sum_of_words(NIC_MESSAGE, epoch + 1, 4)), NIC_TAKEN);
      (void)nic_published(&victim.group, &victim.state, 1, epoch + 1);
      victim.reported = victim.state.completed;
      ASSERT_EQ(flaw_of(victim), "");
    }
  }
}

// One member's mistake is not to be blamed on another.
TEST(NicDisagreement, LeavesNoTraceInWhatHasNotStarted) {
  Victim victim = pair_with_a_sum();
  ASSERT_EQ(take(victim, from_member_1(NIC_MESSAGE, 1)), NIC_TAKEN);
  const nic_state before = victim.state;
  EXPECT_EQ(take(victim, sum_of_words(NIC_MESSAGE, 1, 3)), NIC_DISAGREEMENT);
  EXPECT_TRUE(is_same(before, victim.state));
  EXPECT_EQ(start(victim, 1), NIC_TAKEN);
  EXPECT_EQ(victim.state.completed, 1u);
  EXPECT_EQ(take(victim, sum_of_words(NIC_NACK, 1, 0)), NIC_STALE);
  EXPECT_EQ(victim.state.broken, 0u);
}

TEST(NicAbort, HasACauseAndAMember) {
  Victim victim = pair_with_acknowledgements();
  nic_message message = from_member_1(NIC_ABORT, 1);
  for (const uint8_t cause : {uint8_t{0}, uint8_t{NIC_CAUSES}, uint8_t{255}}) {
    message.bit = cause;
    EXPECT_EQ(take(victim, message), NIC_NOT_EXPECTED);
  }
  message.bit = NIC_CAUSE_LEFT;
  message.root = 2;
  EXPECT_EQ(take(victim, message), NIC_NOT_EXPECTED);
  EXPECT_EQ(victim.state.broken, 0u);
  message.root = 1;
  EXPECT_EQ(take(victim, message), NIC_TAKEN);
  EXPECT_EQ(victim.state.broken, NIC_CAUSE_LEFT | uint64_t{1} << 8);
}

// Who replays what a member once answered doesn't keep it alive.
TEST(NicSignOfLife, IsOfThisMemberAndOfWhatIsUnderWay) {
  Victim victim = pair_with_acknowledgements();
  run_until(victim, 7);
  ASSERT_EQ(start(victim, 8), NIC_TAKEN);
  const auto is_sign = [&](nic_message message) {
    return nic_is_sign_of_life(&victim.group, &victim.state, &message) != 0;
  };
  EXPECT_TRUE(is_sign(from_member_1(NIC_ALIVE, 8)));
  EXPECT_FALSE(is_sign(from_member_1(NIC_ALIVE, 7)));
  EXPECT_FALSE(is_sign(from_member_1(NIC_ALIVE, 9)));
  EXPECT_TRUE(is_sign(from_member_1(NIC_NACK, 7)));
  nic_message message = from_member_1(NIC_NACK, 8);
  message.target = 1;
  EXPECT_FALSE(is_sign(message));
  message.target = 0;
  message.source = 2;
  EXPECT_FALSE(is_sign(message));
}

}  // namespace
}  // namespace hocket::test
