// SPDX-License-Identifier: BSD-3-Clause
// Runs of NIC engines that were recorded, once more.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nic_network.h"
#include "simulation/core/random.h"
#include "simulation/nic/replay.h"

namespace hocket::test {
namespace {

using simulation::NicRecording;
using simulation::NicSent;
using simulation::RecordedDoorbell;
using simulation::RecordedPacket;
using simulation::Replayed;
using simulation::ReplayRow;

constexpr uint64_t kPsPerNs = 1000;
constexpr uint32_t kMembers = 5;
constexpr uint64_t kRounds = 20;
// So far apart that all of an operation is done before the next, whatever is lost.
constexpr uint64_t kRoundNs = 40'000'000;

struct Recorded {
  std::vector<std::vector<nic_program>> collectives;
  NicRecording recording;
};

// Barriers whose hosts come up to `skew_ns` late, and whose packets get lost.
Recorded record(double loss, uint64_t skew_ns, uint64_t seed) {
  Recorded recorded;
  recorded.collectives = {barrier_programs("dissemination", kMembers)};
  simulation::NicOptions options;
  options.keeps_history = true;
  NicNetwork network({.latency_us = 5, .loss = loss, .seed = seed}, {}, recorded.collectives, options);
  for (uint64_t round = 0; round < kRounds; ++round) {
    for (uint32_t member = 0; member < kMembers; ++member) {
      const double share = simulation::random_fraction(seed, simulation::Purpose::kSkew, member, round);
      const uint64_t ns = round * kRoundNs + static_cast<uint64_t>(share * static_cast<double>(skew_ns));
      network.ring_at(member, static_cast<double>(ns) / 1000);
      RecordedDoorbell doorbell;
      doorbell.ns = ns;
      doorbell.member = static_cast<uint16_t>(member);
      doorbell.call.epoch = round + 1;
      recorded.recording.doorbells.push_back(doorbell);
    }
  }
  network.run();
  for (const NicSent& sent : network.engines().history()) {
    RecordedPacket packet = {sent.ready / kPsPerNs, sent.message, {}};
    if (sent.arrival != simulation::kNever)
      packet.arrivals.push_back({static_cast<uint16_t>(sent.receiver), sent.arrival / kPsPerNs});
    recorded.recording.packets.push_back(std::move(packet));
  }
  return recorded;
}

Replayed replayed(const Recorded& recorded) {
  Result<Replayed> found = simulation::replay(recorded.recording, recorded.collectives, {});
  EXPECT_TRUE(found.is_ok()) << found.status().message();
  return found.is_ok() ? found.take() : Replayed{};
}

std::string refusal_of(const Recorded& recorded) {
  const Result<Replayed> found = simulation::replay(recorded.recording, recorded.collectives, {});
  return found.is_ok() ? "" : found.status().message();
}

const simulation::ReplayCount& row(const Replayed& found, ReplayRow row) {
  return found.rows[static_cast<size_t>(row)];
}

TEST(NicReplay, OfARunWithoutLossHasTheSamePackets) {
  const Replayed found = replayed(record(0, 100'000, 1));
  EXPECT_TRUE(found.is_same());
  EXPECT_EQ(found.operations, kMembers * kRounds);
  EXPECT_EQ(row(found, ReplayRow::kMessages).recorded, kMembers * kRounds * 3);
  EXPECT_EQ(row(found, ReplayRow::kMessages).simulated, kMembers * kRounds * 3);
  EXPECT_EQ(found.lost.recorded, 0u);
  EXPECT_EQ(found.lost.simulated, 0u);
}

TEST(NicReplay, LosesWhatWasLostAndHasTheSameMessages) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Recorded recorded = record(0.1, 3'000'000, seed);
    const Replayed found = replayed(recorded);
    EXPECT_TRUE(found.has_same_messages());
    EXPECT_GT(found.lost.recorded, 0u);
    EXPECT_GT(row(found, ReplayRow::kNacks).recorded, 0u);
    EXPECT_GT(row(found, ReplayRow::kRepetitions).recorded, 0u);
    // Looks are where they were, and so all else is.
    EXPECT_TRUE(found.is_same()) << found.differences.size() << " differ";
    EXPECT_EQ(found.lost.recorded, found.lost.simulated);
  }
}

TEST(NicReplay, MissesAMessageThatWasNotRecorded) {
  Recorded recorded = record(0, 0, 1);
  const auto gone = recorded.recording.packets.begin() + 17;
  const simulation::PacketName name = simulation::packet_name(gone->message);
  recorded.recording.packets.erase(gone);
  const Replayed found = replayed(recorded);
  EXPECT_FALSE(found.has_same_messages());
  ASSERT_EQ(found.differences.size(), 1u);
  EXPECT_TRUE(found.differences.front().packet == name);
  EXPECT_TRUE(found.differences.front().is_of_messages());
  EXPECT_EQ(found.differences.front().count.simulated, 1u);
}

TEST(NicReplay, FindsAMessageThatNobodySends) {
  Recorded recorded = record(0, 0, 1);
  recorded.recording.packets[3].message.bit = 7;
  const Replayed found = replayed(recorded);
  EXPECT_FALSE(found.has_same_messages());
  EXPECT_EQ(found.differences.size(), 2u);
}

TEST(NicReplay, TakesAQuestionMoreForATimesAffair) {
  Recorded recorded = record(0.1, 3'000'000, 3);
  auto& packets = recorded.recording.packets;
  const auto question =
      std::ranges::find_if(packets, [](const RecordedPacket& one) { return one.message.kind == NIC_NACK; });
  ASSERT_NE(question, packets.end());
  // Which nobody hears.
  RecordedPacket again = *question;
  again.arrivals.clear();
  packets.insert(question + 1, again);
  const Replayed found = replayed(recorded);
  EXPECT_TRUE(found.has_same_messages());
  EXPECT_FALSE(found.is_same());
}

TEST(NicReplay, ComesToAnEndThoughAHostNeverRings) {
  Recorded recorded = record(0, 0, 1);
  std::erase_if(recorded.recording.doorbells,
                [](const RecordedDoorbell& one) { return one.member == 2 && one.call.epoch > 10; });
  const Replayed found = replayed(recorded);
  EXPECT_GT(found.unfinished, 0u);
  EXPECT_FALSE(found.has_same_messages());
}

TEST(NicReplay, AnEmptyRecordingHasNothing) {
  Recorded recorded;
  recorded.collectives = {barrier_programs("dissemination", 2)};
  const Replayed found = replayed(recorded);
  EXPECT_TRUE(found.is_same());
  EXPECT_EQ(found.operations, 0u);
}

TEST(NicReplay, RefusesWhatDoesNotFitTogether) {
  const Recorded whole = record(0, 0, 1);
  Recorded recorded = whole;
  recorded.recording.doorbells.front().member = kMembers;
  EXPECT_NE(refusal_of(recorded).find("member 5 is of none of the group's 5"), std::string::npos);
  recorded = whole;
  recorded.recording.doorbells.front().call.program = 1;
  EXPECT_NE(refusal_of(recorded).find("begins program 1"), std::string::npos);
  recorded = whole;
  recorded.recording.doorbells.erase(recorded.recording.doorbells.begin());
  EXPECT_NE(refusal_of(recorded).find("is of operation 2 and should be of 1"), std::string::npos);
  recorded = whole;
  recorded.recording.packets.front().message.target = kMembers;
  EXPECT_NE(refusal_of(recorded).find("to 5, where the group has 5"), std::string::npos);
  recorded = whole;
  recorded.recording.packets.front().arrivals.front().ns = ~uint64_t{0};
  EXPECT_NE(refusal_of(recorded).find("after more than 11 days"), std::string::npos);
  recorded = whole;
  recorded.collectives.clear();
  EXPECT_NE(refusal_of(recorded), "");
}

TEST(NicReplay, EveryRowHasAName) {
  for (uint8_t number = 0; number < static_cast<uint8_t>(ReplayRow::kRows); ++number)
    EXPECT_STRNE(simulation::row_name(ReplayRow{number}), "");
}

}  // namespace
}  // namespace hocket::test
