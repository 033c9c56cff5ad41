// SPDX-License-Identifier: BSD-3-Clause
#include "core/awaited_progress.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hocket::interposer {
namespace {

TEST(AwaitedProgress, IsThereWhileAWindowOrAMessageIs) {
  AwaitedProgress awaited;
  EXPECT_EQ(awaited.number()->load(), 0u);
  awaited.window_comes();
  EXPECT_NE(awaited.number()->load(), 0u);
  EXPECT_FALSE(awaited.has_messages());
  awaited.message_begins();
  EXPECT_TRUE(awaited.has_messages());
  awaited.window_goes();
  EXPECT_TRUE(awaited.has_messages());
  awaited.messages_end(1);
  EXPECT_EQ(awaited.number()->load(), 0u);
}

// Of a window or a message whose beginning was not counted.
TEST(AwaitedProgress, NeverFallsBelowZero) {
  AwaitedProgress awaited;
  awaited.window_goes();
  awaited.messages_end(3);
  EXPECT_EQ(awaited.number()->load(), 0u);
  awaited.window_comes();
  awaited.message_begins();
  awaited.messages_end(5);
  EXPECT_FALSE(awaited.has_messages());
  EXPECT_NE(awaited.number()->load(), 0u) << "more messages' ends than there were take no window away";
}

TEST(AwaitedProgress, ThreadsMayCountAtOnce) {
  AwaitedProgress awaited;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        awaited.message_begins();
        awaited.window_comes();
        awaited.window_goes();
        awaited.messages_end(1);
      }
    });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(awaited.number()->load(), 0u);
}

}  // namespace
}  // namespace hocket::interposer
