// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/core/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace hocket::simulation {
namespace {

TEST(EventQueue, GivesEntriesByTimeAndThoseOfOneTimeInTheirOrder) {
  std::mt19937_64 dice(7);
  EventQueue<uint32_t> queue;
  std::vector<std::pair<Time, uint32_t>> expected, found;
  for (uint32_t i = 0; i < 5000; ++i) {
    const Time time = dice() % 900 * (i % 3 == 0 ? 1'000'000 : 1);
    queue.push(time, i);
    expected.emplace_back(time, i);
  }
  std::sort(expected.begin(), expected.end());
  while (!queue.is_empty()) {
    const auto entry = queue.pop();
    found.emplace_back(entry.time, entry.event);
  }
  EXPECT_EQ(found, expected);
}

TEST(EventQueue, TakesEntriesWhileItGivesOthers) {
  std::mt19937_64 dice(11);
  EventQueue<uint32_t> queue;
  std::vector<std::pair<Time, uint32_t>> waiting;
  uint32_t number = 0;
  Time last = 0;
  for (int step = 0; step < 20000; ++step) {
    if (waiting.empty() || (dice() % 2 == 0 && step < 15000)) {
      const Time time = last + dice() % 4 * (dice() % 5 == 0 ? 100'000 : 1);
      queue.push(time, number);
      waiting.emplace_back(time, number++);
    } else {
      const auto first = std::min_element(waiting.begin(), waiting.end());
      const auto entry = queue.pop();
      ASSERT_EQ(std::pair(entry.time, entry.event), *first) << "step " << step;
      EXPECT_EQ(queue.now(), entry.time);
      last = entry.time;
      waiting.erase(first);
    }
    ASSERT_EQ(queue.size(), waiting.size());
  }
}

TEST(EventQueue, AnnouncesWhatHasNotBeenGivenYetAndGivesTheSame) {
  std::mt19937_64 dice(13);
  EventQueue<uint32_t> queue, plain;
  for (uint32_t i = 0; i < 5000; ++i) {
    const Time time = dice() % 1'000'000;
    queue.push(time, i);
    plain.push(time, i);
  }
  std::vector<bool> given(5000), announced(5000);
  while (!queue.is_empty()) {
    const auto entry = queue.pop([&](uint32_t event, size_t distance) {
      EXPECT_FALSE(given[event]) << event;
      EXPECT_LE(distance, queue.size());
      announced[event] = true;
    });
    EXPECT_EQ(entry.event, plain.pop().event);
    given[entry.event] = true;
  }
  EXPECT_GT(std::count(announced.begin(), announced.end(), true), 4000);
}

TEST(EventQueue, TakesTheLastTimeThereIs) {
  EventQueue<int> queue;
  queue.push(kNever, 2);
  queue.push(0, 1);
  EXPECT_EQ(queue.pop().event, 1);
  EXPECT_EQ(queue.pop().event, 2);
}

}  // namespace
}  // namespace hocket::simulation
