// SPDX-License-Identifier: BSD-3-Clause
// What enemies send, by the million: with LONG_TESTS=1 twelve, else a part of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "hostile_packets.h"
#include "support/long_tests.h"

namespace hocket::test {
namespace {

uint64_t many(uint64_t few) { return is_long_tier() ? 2'000'000 : few; }

bool is_same(const nic_state& one, const nic_state& other) { return std::memcmp(&one, &other, sizeof one) == 0; }

// Whether the group has ended between the two, and nothing else has happened.
bool is_broken_only(nic_state before, const nic_state& after) {
  const bool ends = before.broken == 0 && (after.broken & 0xff) == NIC_CAUSE_DISAGREES;
  before.broken = after.broken;
  return ends && is_same(before, after);
}

class HostilePacketsOf : public testing::TestWithParam<uint64_t> {
 protected:
  // Feeds one; what it may not do whoever sends it.
  testing::AssertionResult feed(const HostilePacket& packet) {
    const std::vector<Victim> before = engine_.groups();
    ++fed_;
    const Taken taken = engine_.take(packet.datagram());
    if (taken.counter == kPassed) ++passed_;
    if (packet.expected != kAnyCounter && packet.expected != taken.counter)
      return fails(packet, "is counted under " + std::to_string(taken.counter));
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number) {
      const Victim& then = before[number];
      const Victim& now = engine_.groups()[number];
      const bool has_changed = !is_same(then.state, now.state);
      if (number != taken.group && (has_changed || then.heard != now.heard)) return fails(packet, "changes a group");
      if (!has_changed) continue;
      const bool ends = taken.counter == NIC_DISAGREEMENT && is_broken_only(then.state, now.state);
      if (!ends && (taken.counter != NIC_TAKEN || packet.expected != kAnyCounter))
        return fails(packet, "changes its group");
      if (then.state.started != now.state.started) return fails(packet, "begins an operation");
      if (const std::string flaw = flaw_of(now); !flaw.empty()) return fails(packet, "leaves " + flaw);
    }
    return check_sent(packet, taken);
  }

  // Nothing goes to anybody but other members, and what was wrong is answered at most by an acknowledgement.
  testing::AssertionResult check_sent(const HostilePacket& packet, const Taken& taken) const {
    const nic_outcome& outcome = taken.outcome;
    if (taken.group == kNoGroup) return testing::AssertionSuccess();
    const nic_group& group = engine_.groups()[taken.group].group;
    if (outcome.first_send > outcome.end_send || outcome.end_send > NIC_MOST_SENDS)
      return fails(packet, "sends wildly");
    for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
      nic_message sent;
      if (nic_following(&group, &taken.message, &outcome, number, &sent) == 0 ||
          (sent.target >= group.size && sent.target != NIC_ALL) || sent.target == group.self)
        return fails(packet, "makes a message to nobody");
    }
    if (outcome.reply != 0 && (taken.message.source >= group.size || taken.message.source == group.self))
      return fails(packet, "is answered to nobody");
    const bool is_silent = outcome.first_send == outcome.end_send && (outcome.reply == 0 || outcome.reply == NIC_ACK);
    if (packet.expected != kAnyCounter && !is_silent) return fails(packet, "is answered");
    return testing::AssertionSuccess();
  }

  // Hosts go on meanwhile.
  void let_hosts_begin() {
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number) {
      const nic_group& group = engine_.groups()[number].group;
      if (packets_.below(2) == 0) (void)engine_.start(number, static_cast<uint32_t>(packets_.below(group.programs)));
    }
  }
  void repair() {
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number)
      if (engine_.groups()[number].state.broken != 0 || packets_.below(1000) == 0) engine_.renew(number);
  }

  // Each packet is counted once.
  void TearDown() override {
    const auto& counters = engine_.counters();
    EXPECT_EQ(std::accumulate(counters.begin(), counters.begin() + NIC_NO_GROUP + 1, uint64_t{0}), fed_ - passed_);
    EXPECT_EQ(std::accumulate(counters.begin() + NIC_NO_GROUP + 1, counters.end(), uint64_t{0}), 0u);
  }

  static testing::AssertionResult fails(const HostilePacket& packet, const std::string& how) {
    return testing::AssertionFailure() << packet.what << " (of " << packet.length << " bytes, to be counted under "
                                       << packet.expected << ") " << how;
  }

  VictimEngine engine_{GetParam()};
  HostilePackets packets_{engine_, GetParam() + 1};
  uint64_t fed_ = 0;
  uint64_t passed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Seeds, HostilePacketsOf, testing::Values(1, 2));

TEST_P(HostilePacketsOf, StrangersChangeNothing) {
  let_hosts_begin();
  for (uint64_t i = 0; i < many(100'000); ++i) {
    ASSERT_TRUE(feed(packets_.noise())) << "packet " << i;
    if (i % 64 == 0) let_hosts_begin();
    if (i % 4096 == 0) repair();
  }
}

TEST_P(HostilePacketsOf, WhatIsSignedAndWrongChangesNothing) {
  for (uint64_t i = 0; i < many(100'000); ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(VictimEngine::kGroups));
    if (i % 64 == 0) let_hosts_begin();
    repair();
    ASSERT_TRUE(feed(packets_.malformed(group))) << "packet " << i;
  }
  for (const uint32_t counter :
       {NIC_STALE, NIC_EARLY, NIC_MISDIRECTED, NIC_NO_PROGRAM, NIC_NOT_EXPECTED, NIC_DISAGREEMENT, NIC_UNKNOWN_KIND})
    EXPECT_NE(engine_.counters()[counter], 0u) << counter;
}

TEST_P(HostilePacketsOf, MembersHarmNoGroupButTheirOwn) {
  for (uint64_t i = 0; i < many(100'000); ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(VictimEngine::kGroups));
    const bool is_random = packets_.below(3) == 0;
    if (engine_.groups()[group].state.broken != 0 && packets_.below(64) == 0) engine_.renew(group);
    ASSERT_TRUE(feed(is_random ? packets_.random_fields(group) : packets_.misbehaving(group))) << "packet " << i;
    if (i % 16 == 0) let_hosts_begin();
  }
  for (const uint32_t counter : {NIC_TAKEN, NIC_DUPLICATE, NIC_STALE, NIC_EARLY, NIC_BROKEN, NIC_DISAGREEMENT})
    EXPECT_NE(engine_.counters()[counter], 0u) << counter;
}

// --- one at a time ---------------------------------------------------------------------------------------------------

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
  victim.heard.resize(2);
  return victim;
}

nic_message from_member_1(uint8_t kind, uint64_t epoch) { return {0, epoch, 1, 0, kind, 0, 0, 0, 0, 0, 0}; }

nic_verdict take(Victim& victim, const nic_message& message) {
  return nic_take(&victim.group, &victim.state, &message).verdict;
}

// Completes operations up to `last`.
void run_until(Victim& victim, uint64_t last) {
  for (uint64_t epoch = victim.state.started + 1; epoch <= last; ++epoch) {
    ASSERT_EQ(nic_start(&victim.group, &victim.state, 0, epoch).verdict, NIC_TAKEN);
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
  ASSERT_EQ(nic_start(&victim.group, &victim.state, 0, 1).verdict, NIC_TAKEN);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_NOT_EXPECTED);
  EXPECT_EQ(take(victim, from_member_1(NIC_MESSAGE, 1)), NIC_TAKEN);
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_TAKEN);
  victim.group.program[0].flags = 0;
  EXPECT_EQ(take(victim, from_member_1(NIC_ACK, 1)), NIC_NOT_EXPECTED);
}

TEST(NicAbort, HasACauseAndAMember) {
  Victim victim = pair_with_acknowledgements();
  nic_message message = from_member_1(NIC_ABORT, 1);
  for (const uint8_t cause : {uint8_t{0}, uint8_t{NIC_CAUSES}, uint8_t{255}}) {
    message.bit = cause;
    EXPECT_EQ(take(victim, message), NIC_NOT_EXPECTED);
  }
  message.bit = NIC_CAUSE_LEFT;
  message.count = 2;
  EXPECT_EQ(take(victim, message), NIC_NOT_EXPECTED);
  EXPECT_EQ(victim.state.broken, 0u);
  message.count = 1;
  EXPECT_EQ(take(victim, message), NIC_TAKEN);
  EXPECT_EQ(victim.state.broken, NIC_CAUSE_LEFT | uint64_t{1} << 8);
}

// Who replays what a member once answered doesn't keep it alive.
TEST(NicSignOfLife, IsOfThisMemberAndOfWhatIsUnderWay) {
  Victim victim = pair_with_acknowledgements();
  run_until(victim, 7);
  ASSERT_EQ(nic_start(&victim.group, &victim.state, 0, 8).verdict, NIC_TAKEN);
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
