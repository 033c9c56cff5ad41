// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/delay_line.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/packets/watch.h"

namespace hocket::lab {
namespace {

using Frame = std::vector<uint8_t>;

lab_settings delay_of(uint64_t delay_ns, uint64_t jitter_ns = 0, uint64_t hold_ns = 0) {
  lab_settings settings{};
  settings.seed = 1;
  settings.delay_ns = delay_ns;
  settings.jitter_ns = jitter_ns;
  settings.hold_ns = hold_ns;
  return settings;
}

TEST(DelayLine, GivesNothingBackBeforeItsTime) {
  DelayLine line(1000);
  EXPECT_EQ(line.next_ns(), UINT64_MAX);
  ASSERT_TRUE(line.add(Frame{1}, 0, false, delay_of(100), 1000));
  EXPECT_EQ(line.next_ns(), 1100U);
  EXPECT_FALSE(line.take_due(1099));
  EXPECT_EQ(line.take_due(1100), Frame{1});
  EXPECT_FALSE(line.take_due(2000));
}

TEST(DelayLine, KeepsTheOrderOfALinkWhateverTheJitter) {
  DelayLine line(100'000);
  for (uint8_t i = 0; i < 200; ++i) ASSERT_TRUE(line.add(Frame{i}, 3, false, delay_of(100, 1000), i));
  uint8_t expected = 0;
  while (const auto frame = line.take_due(UINT64_MAX - 1)) EXPECT_EQ((*frame)[0], expected++);
  EXPECT_EQ(expected, 200);
}

TEST(DelayLine, JitterStaysWithinItsBounds) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    DelayLine line(1000);
    lab_settings settings = delay_of(100, 50);
    settings.seed = seed;
    ASSERT_TRUE(line.add(Frame{1}, 0, false, settings, 0));
    EXPECT_GE(line.next_ns(), 100U);
    EXPECT_LE(line.next_ns(), 150U);
  }
}

TEST(DelayLine, HeldPacketsAreOvertaken) {
  DelayLine line(1000);
  const lab_settings settings = delay_of(10, 0, 100);
  ASSERT_TRUE(line.add(Frame{1}, 0, true, settings, 0));
  ASSERT_TRUE(line.add(Frame{2}, 0, false, settings, 1));
  EXPECT_EQ(line.take_due(1000), Frame{2});
  EXPECT_EQ(line.take_due(1000), Frame{1});
}

TEST(DelayLine, LinksDoNotWaitForEachOther) {
  DelayLine line(1000);
  ASSERT_TRUE(line.add(Frame{1}, 0, false, delay_of(1000), 0));
  ASSERT_TRUE(line.add(Frame{2}, 1, false, delay_of(10), 0));
  EXPECT_EQ(line.take_due(10), Frame{2});
}

TEST(DelayLine, RefusesWhatItHasNoRoomFor) {
  DelayLine line(10);
  ASSERT_TRUE(line.add(Frame(6), 0, false, delay_of(10), 0));
  EXPECT_FALSE(line.add(Frame(6), 0, false, delay_of(10), 0));
  ASSERT_TRUE(line.take_due(10));
  EXPECT_TRUE(line.add(Frame(6), 0, false, delay_of(10), 10));
}

TEST(DelayLine, CountsFromWhenAPacketCame) {
  DelayLine line(1000);
  EXPECT_EQ(line.add(Frame{1}, 0, false, delay_of(100), 1000), 1100U);
  EXPECT_EQ(line.add(Frame(1000), 0, false, delay_of(100), 1000), std::nullopt);
}

TEST(Watch, IsWokenUntilSomethingCameAndAfterItHasBeenQuiet) {
  Watch watch;
  EXPECT_EQ(watch.next_ns(1'000'000), 0U);
  watch.found(500'000, 1'000'000);
  EXPECT_EQ(watch.next_ns(1'000'000), 1'000'000 + 500'000 - Watch::kAheadNs);
  EXPECT_NE(watch.next_ns(1'000'000 + Watch::kQuietNs), 0U);
  EXPECT_EQ(watch.next_ns(1'000'001 + Watch::kQuietNs), 0U);
  EXPECT_EQ(watch.next_ns(1'000'000), 0U) << "what was known then isn't any more";
}

TEST(Watch, LooksInTimeForTheShortestAndIsWokenByWhatIsHeldForAMoment) {
  Watch watch;
  watch.found(500'000, 0);
  watch.found(300'000, 0);
  watch.found(400'000, 0);
  EXPECT_EQ(watch.next_ns(0), 300'000 - Watch::kAheadNs);
  watch.found(Watch::kLeastNs - 1, 0);
  EXPECT_EQ(watch.next_ns(0), 0U);
}

TEST(Chance, HitsAboutItsShareAndNothingAtZeroAndAllAtOne) {
  constexpr uint64_t kPackets = 100'000;
  constexpr uint64_t kWhole = uint64_t{1} << 32;
  for (const double share : {0.0, 0.01, 0.3, 1.0}) {
    uint64_t hits = 0;
    for (uint64_t number = 0; number < kPackets; ++number)
      hits += lab_is_hit(static_cast<uint64_t>(share * kWhole), 7, 5, LAB_LOSS, number) ? 1 : 0;
    // The numbers are the same in each run: this can't fail by chance. Six standard deviations.
    const double deviation = std::sqrt(kPackets * share * (1 - share));
    EXPECT_NEAR(static_cast<double>(hits), kPackets * share, 6 * deviation) << share;
  }
}

TEST(Chance, LinksPurposesAndSeedsHaveNothingToDoWithEachOther) {
  uint64_t same = 0;
  for (uint64_t number = 0; number < 10'000; ++number) {
    const bool hit = lab_is_hit(uint64_t{1} << 31, 1, 0, LAB_LOSS, number) != 0;
    same += hit == (lab_is_hit(uint64_t{1} << 31, 1, 1, LAB_LOSS, number) != 0) ? 1 : 0;
    same += hit == (lab_is_hit(uint64_t{1} << 31, 2, 0, LAB_LOSS, number) != 0) ? 1 : 0;
    same += hit == (lab_is_hit(uint64_t{1} << 31, 1, 0, LAB_HOLD, number) != 0) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(same), 15'000, 6 * std::sqrt(30'000 * 0.25));
}

TEST(RelayTags, FitAVlanAndTellLinkAndWhetherHeld) {
  for (uint32_t link = 0; link < LAB_LINKS; ++link) {
    for (const uint32_t is_held : {0U, 1U}) {
      const uint32_t tag = lab_relay_tag(link, is_held);
      EXPECT_GE(tag, 1U);
      EXPECT_LE(tag, 4094U);
      EXPECT_EQ(lab_tag_link(tag), link);
      EXPECT_EQ(lab_tag_is_held(tag), is_held);
    }
  }
}

TEST(RelayTags, TellTheTimeForAsLongAsTheyCan) {
  constexpr uint64_t kUnit = uint64_t{1} << LAB_TIME_SHIFT;
  for (const uint64_t came : {uint64_t{0}, 65'535 * kUnit, uint64_t{123'456'789'012'345}}) {
    for (const uint64_t age : {uint64_t{0}, kUnit, 65'000 * kUnit})
      EXPECT_EQ(lab_tag_time_ns(lab_time_tag(came), came + age), came / kUnit * kUnit) << came << " " << age;
  }
}

}  // namespace
}  // namespace hocket::lab
