// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace hocket::platform {
namespace {

TraceEvent event_of(uint64_t value) {
  TraceEvent event;
  event.began_ns = event.ended_ns = event.bytes = event.number = event.communicator = value;
  event.root = event.track = event.other = static_cast<uint32_t>(value);
  return event;
}

bool is_of(const TraceEvent& event, uint64_t value) {
  return event.began_ns == value && event.ended_ns == value && event.bytes == value && event.number == value &&
         event.communicator == value && event.root == static_cast<uint32_t>(value) && event.track == event.root &&
         event.other == event.root;
}

TEST(TraceRing, KeepsTheLastEvents) {
  const auto ring = TraceRing::create(8).take();
  TraceEvent event;
  EXPECT_FALSE(ring->read(0, event)) << "nothing has been added";
  for (uint64_t i = 0; i < 20; ++i) ring->add(event_of(i));
  EXPECT_EQ(ring->added(), 20u);
  EXPECT_EQ(ring->first(), 12u);
  EXPECT_FALSE(ring->read(11, event)) << "another is in its place";
  for (uint64_t i = 12; i < 20; ++i) {
    ASSERT_TRUE(ring->read(i, event)) << i;
    EXPECT_TRUE(is_of(event, i)) << i;
  }
  EXPECT_FALSE(ring->read(20, event)) << "not yet";
}

TEST(TraceRing, HasRoomForAsManyAsAreAskedFor) {
  EXPECT_GE(TraceRing::create(1).take()->capacity(), 1u);
  EXPECT_GE(TraceRing::create(1000).take()->capacity(), 1000u);
}

TEST(TraceRing, WhatIsReadIsWholeWhileOthersWrite) {
  const auto ring = TraceRing::create(4).take();
  std::atomic<bool> ends{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer)
    writers.emplace_back([&] {
      while (!ends.load(std::memory_order_relaxed)) {
        const uint64_t number = ring->reserve(1);
        ring->write(number, event_of(number));
      }
    });
  uint64_t whole = 0, looks = 0;
  for (; whole < 1000 && looks < 100'000'000; ++looks) {
    const uint64_t number = ring->first();
    TraceEvent event;
    if (!ring->read(number, event)) continue;
    ++whole;
    ASSERT_TRUE(is_of(event, number)) << number;
  }
  ends.store(true, std::memory_order_relaxed);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(whole, 1000u);
}

// It was kept from running, say, while others went round.
TEST(TraceRing, ALateWriterLeavesNewerEventsAlone) {
  const auto ring = TraceRing::create(4).take();
  const uint64_t late = ring->reserve(1);
  for (uint64_t i = 1; i < 5; ++i) ring->add(event_of(i));
  ring->write(late, event_of(late));
  for (uint64_t i = 1; i < 5; ++i) {
    TraceEvent event;
    ASSERT_TRUE(ring->read(i, event)) << i;
    EXPECT_TRUE(is_of(event, i)) << i;
  }
}

// Of writers that come to one place at the same time, one has it to itself.
TEST(TraceRing, WhatIsReadIsWholeWhereWritersMeetInAPlace) {
  const auto ring = TraceRing::create(1).take();
  constexpr int kEvents = 2'000'000;
  std::atomic<uint64_t> whole{0}, torn{0};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer)
    writers.emplace_back([&] {
      for (int i = 0; i < kEvents; ++i) {
        const uint64_t number = ring->reserve(1);
        ring->write(number, event_of(number));
        TraceEvent event;
        if (ring->read(number, event)) ++(is_of(event, number) ? whole : torn);
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GT(whole, 0u);
}

}  // namespace
}  // namespace hocket::platform
