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

// Whether the group has ended between the two, and nothing else has happened.
bool is_broken_only(nic_state before, const nic_state& after) {
  const bool ends = before.broken == 0 && (after.broken & 0xff) == NIC_CAUSE_DISAGREES;
  before.broken = after.broken;
  return ends && is_same(before, after);
}

class HostilePacketsOf : public testing::TestWithParam<uint64_t> {
 protected:
  struct Before {
    nic_state state;
    std::vector<uint32_t> signs_of_life;
  };

  void SetUp() override {
    for (const Victim& victim : engine_.groups()) kept_.push_back(victim.operands);
  }

  // Feeds one; what it may not do whoever sends it.
  testing::AssertionResult feed(const HostilePacket& packet) {
    std::vector<Before> before;
    for (const Victim& victim : engine_.groups()) before.push_back({victim.state, victim.signs_of_life});
    ++fed_;
    const Taken taken = engine_.take(packet.datagram());
    if (taken.counter == kPassed) ++passed_;
    if (packet.expected != kAnyCounter && packet.expected != taken.counter)
      return fails(packet, "is counted under " + std::to_string(taken.counter));
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number) {
      const Before& then = before[number];
      const Victim& now = engine_.groups()[number];
      const bool has_changed = !is_same(then.state, now.state);
      if (number != taken.group && (has_changed || then.signs_of_life != now.signs_of_life))
        return fails(packet, "changes a group");
      if (!has_changed) continue;
      const bool ends = taken.counter == NIC_DISAGREEMENT && is_broken_only(then.state, now.state);
      if (!ends && (taken.counter != NIC_TAKEN || packet.expected != kAnyCounter))
        return fails(packet, "changes its group");
      if (then.state.started != now.state.started) return fails(packet, "begins an operation");
      if (const std::string flaw = flaw_of(now); !flaw.empty()) return fails(packet, "leaves " + flaw);
    }
    if (const auto kept = check_operands(packet, taken, before); !kept) return kept;
    return check_sent(packet, taken);
  }

  // What has been claimed by the packet is what it carries, and nothing else is written.
  testing::AssertionResult check_operands(const HostilePacket& packet, const Taken& taken,
                                          const std::vector<Before>& before) {
    if (taken.group == kNoGroup) return testing::AssertionSuccess();
    Victim& now = engine_.groups()[taken.group];
    const nic_message& m = taken.message;
    const uint64_t index = nic_index_of(m.epoch);
    const uint64_t claimed = now.state.claimed[index];
    if (before[taken.group].state.claimed[index] != claimed) {
      const nic_arrival& arrival = now.group.program[m.program].arrival[m.bit];
      const uint64_t at = arrival.slice == NIC_WHOLE ? 0 : uint64_t{arrival.slice} * m.carried;
      std::memcpy(&kept_place(taken.group, m.epoch, arrival.operand).word[at], &packet.bytes[NIC_HEADER_BYTES],
                  sizeof(uint64_t) * m.carried);
      pool(taken.group, before[taken.group].state, m, arrival.operand);
      ++claims_;
    }
    const std::span<nic_operand> places = now.places(m.epoch);
    if (!places.empty() && std::memcmp(places.data(), &kept_place(taken.group, m.epoch, 0), places.size_bytes()) != 0)
      return fails(packet, "leaves another operand");
    if (fed_ % 1024 == 0 && !are_operands_kept()) return fails(packet, "or one before it writes where it may not");
    return testing::AssertionSuccess();
  }

  // A place that has got an operand has got all that was parked before, too, if the program pools it.
  void pool(uint32_t group, const nic_state& before, const nic_message& m, uint32_t place) {
    const nic_program& program = engine_.groups()[group].group.program[m.program];
    const uint32_t parked = nic_parked(nic_look(&before.pool[nic_index_of(m.epoch)], m.epoch));
    if (nic_is_pooled(&program, place) == 0 || parked == 0) return;
    const nic_operand& other = kept_place(group, m.epoch, parked - 1);
    nic_operand& own = kept_place(group, m.epoch, place);
    for (uint32_t i = 0; i < m.words; ++i)
      own.word[i] = nic_combine_word(m.operation, m.type, other.word[i], own.word[i]);
    ++combined_;
  }

  nic_operand& kept_place(uint32_t group, uint64_t epoch, uint32_t place) {
    return kept_[group][Victim::kBeside + nic_index_of(epoch) * engine_.groups()[group].group.operands + place];
  }
  bool are_operands_kept() const {
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number) {
      const std::vector<nic_operand>& now = engine_.groups()[number].operands;
      if (std::memcmp(now.data(), kept_[number].data(), now.size() * sizeof now[0]) != 0) return false;
    }
    return true;
  }

  // Nothing goes to anybody but other members, and what was wrong is answered at most by an acknowledgement.
  testing::AssertionResult check_sent(const HostilePacket& packet, const Taken& taken) const {
    const nic_outcome& outcome = taken.outcome;
    if (taken.group == kNoGroup) return testing::AssertionSuccess();
    const Victim& victim = engine_.groups()[taken.group];
    const nic_group& group = victim.group;
    if (outcome.first_send > outcome.end_send || outcome.end_send > NIC_MOST_SENDS)
      return fails(packet, "sends wildly");
    for (uint32_t number = outcome.first_send; number < outcome.end_send; ++number) {
      nic_message sent{};
      nic_operand operand;
      // A root has nothing to send to itself.
      if (nic_following(&group, &taken.message, &outcome, number, &sent) == 0) {
        if (sent.target != NIC_NOT_USED) return fails(packet, "makes a message that there is not");
        continue;
      }
      if ((sent.target >= group.size && sent.target != NIC_ALL) || sent.target == group.self)
        return fails(packet, "makes a message to nobody");
      if (sent.carried > NIC_MOST_WORDS ||
          nic_carry(&group, &victim.state, victim.memory(), &sent, outcome.call, &operand) == 0)
        return fails(packet, "makes a message of nothing");
      if (const std::string flaw = flaw_of_sent(victim, sent); !flaw.empty()) return fails(packet, "sends " + flaw);
    }
    if (outcome.reply != 0 && (taken.message.source >= group.size || taken.message.source == group.self))
      return fails(packet, "is answered to nobody");
    const bool is_silent = outcome.first_send == outcome.end_send && (outcome.reply == 0 || outcome.reply == NIC_ACK);
    if (packet.expected != kAnyCounter && !is_silent) return fails(packet, "is answered");
    return testing::AssertionSuccess();
  }

  // What goes out with content has all operands that it is made of.
  static std::string flaw_of_sent(const Victim& victim, const nic_message& sent) {
    if (sent.kind != NIC_MESSAGE || sent.carried == 0) return "";
    const nic_program& program = victim.group.program[sent.program];
    const nic_content content = program.send[sent.send].content;
    const uint64_t record = nic_look(&victim.state.record[nic_index_of(sent.epoch)], sent.epoch);
    if ((record & NIC_STARTED) == 0) return "content before the host has started";
    for (uint32_t fold = content.first; fold < content.end; ++fold)
      for (uint32_t bit = 0; bit < program.arrivals; ++bit)
        if (program.arrival[bit].operand == (program.fold[fold] & (NIC_IS_LEFT - 1)) && (record >> bit & 1) == 0)
          return "content whose operands have not come";
    return "";
  }

  // Hosts go on meanwhile.
  void let_hosts_begin() {
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number) {
      if (packets_.below(2) == 0) continue;
      const nic_message doorbell = packets_.below(4) == 0 ? packets_.wild_doorbell(number) : packets_.doorbell(number);
      const nic_operand operand = packets_.operand();
      const nic_state before = engine_.groups()[number].state;
      const nic_outcome outcome = engine_.start(number, doorbell, operand);
      const Victim& victim = engine_.groups()[number];
      EXPECT_EQ(flaw_of(victim), "");
      // What is wrong with a doorbell shows only in what it says of the operation.
      const bool may_write = outcome.verdict == NIC_TAKEN || outcome.verdict == NIC_DISAGREEMENT;
      if (!may_write || doorbell.carried == 0) continue;
      const nic_program& program = victim.group.program[doorbell.program];
      nic_operand& expected = kept_place(number, doorbell.epoch, NIC_HOSTS_OPERAND);
      std::memcpy(&expected, &operand, sizeof(uint64_t) * doorbell.carried);
      pool(number, before, doorbell, NIC_HOSTS_OPERAND);
      const nic_operand& kept = engine_.groups()[number].places(doorbell.epoch)[NIC_HOSTS_OPERAND];
      const bool is_kept = std::memcmp(&kept, &expected, sizeof(uint64_t) * doorbell.carried) == 0;
      EXPECT_TRUE(is_kept || outcome.verdict != NIC_TAKEN);
      keep(number, doorbell.epoch, NIC_HOSTS_OPERAND);
      if (program.slices != 0) keep(number, doorbell.epoch, NIC_EXCHANGED);
    }
  }
  // A place becomes what it is now.
  void keep(uint32_t group, uint64_t epoch, uint32_t place) {
    kept_place(group, epoch, place) = engine_.groups()[group].places(epoch)[place];
  }
  void renew(uint32_t number) {
    engine_.renew(number);
    kept_[number] = engine_.groups()[number].operands;
  }
  void repair() {
    for (uint32_t number = 0; number < VictimEngine::kGroups; ++number)
      if (engine_.groups()[number].state.broken != 0 || packets_.below(1000) == 0) renew(number);
  }
  uint64_t published() const {
    uint64_t published = 0;
    for (const Victim& victim : engine_.groups()) published += victim.published;
    return published;
  }

  // Each packet is counted once.
  void TearDown() override {
    const auto& counters = engine_.counters();
    EXPECT_EQ(std::accumulate(counters.begin(), counters.begin() + NIC_NO_GROUP + 1, uint64_t{0}), fed_ - passed_);
    EXPECT_EQ(std::accumulate(counters.begin() + NIC_NO_GROUP + 1, counters.end(), uint64_t{0}), counters[NIC_KEPT]);
    EXPECT_TRUE(are_operands_kept());
  }

  static testing::AssertionResult fails(const HostilePacket& packet, const std::string& how) {
    return testing::AssertionFailure() << packet.what << " (of " << packet.length << " bytes, to be counted under "
                                       << packet.expected << ") " << how;
  }

  VictimEngine engine_{GetParam()};
  HostilePackets packets_{engine_, GetParam() + 1};
  std::vector<std::vector<nic_operand>> kept_;  // the groups' operands, as they have to be
  uint64_t fed_ = 0;
  uint64_t passed_ = 0;
  uint64_t claims_ = 0;
  uint64_t combined_ = 0;  // operands with others, as they came
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
    // Else nothing would ever have come that it could disagree with.
    if (packets_.below(4) != 0) continue;
    ASSERT_TRUE(feed(packets_.misbehaving(group))) << "after packet " << i;
  }
  for (const uint32_t counter : {NIC_DUPLICATE, NIC_STALE, NIC_EARLY, NIC_MISDIRECTED, NIC_NO_PROGRAM, NIC_NOT_EXPECTED,
                                 NIC_DISAGREEMENT, NIC_UNSOUND, NIC_REJECTED, NIC_UNKNOWN_KIND})
    EXPECT_NE(engine_.counters()[counter], 0u) << counter;
}

TEST_P(HostilePacketsOf, MembersHarmNoGroupButTheirOwn) {
  for (uint64_t i = 0; i < many(100'000); ++i) {
    const auto group = static_cast<uint32_t>(packets_.below(VictimEngine::kGroups));
    const bool is_random = packets_.below(3) == 0;
    if (engine_.groups()[group].state.broken != 0 && packets_.below(64) == 0) renew(group);
    ASSERT_TRUE(feed(is_random ? packets_.random_fields(group) : packets_.misbehaving(group))) << "packet " << i;
    if (i % 16 == 0) let_hosts_begin();
  }
  for (const uint32_t counter :
       std::initializer_list<uint32_t>{NIC_TAKEN, NIC_DUPLICATE, NIC_STALE, NIC_EARLY, NIC_BROKEN, NIC_DISAGREEMENT,
                                       NIC_UNSOUND, NIC_REJECTED, NIC_KEPT})
    EXPECT_NE(engine_.counters()[counter], 0u) << counter;
  EXPECT_NE(claims_, 0u);
  EXPECT_NE(combined_, 0u);
  EXPECT_NE(published(), 0u);
}

}  // namespace
}  // namespace hocket::test
