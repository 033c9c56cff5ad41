// SPDX-License-Identifier: BSD-3-Clause
#include "core/try_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace hocket::interposer {
namespace {

TEST(TryLock, MayBeTriedByWhoHoldsIt) {
  TryLock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(TryLock, LetsOneInAtATime) {
  constexpr int kTimes = 10'000;
  TryLock lock;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < kTimes; ++i) {
      const std::scoped_lock held(lock);
      ++count;
    }
  };
  std::thread one(add), other(add);
  one.join();
  other.join();
  EXPECT_EQ(count, 2 * kTimes);
}

}  // namespace
}  // namespace hocket::interposer
