// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/progress/under_way.h"

namespace hocket::interposer {
namespace {

std::atomic<int> advanced{0}, rested{0};
std::atomic<Moves> answer{Moves::kNothing};

constexpr ThreadsWork kWork{[] {
                              ++advanced;
                              return answer.load();
                            },
                            [] {
                              ++rested;
                              internal::watched = 0;
                            }};
constexpr ThreadsTask kTask{false, Core::kSpare, false};

// Whatever it takes; the test's own limit ends a thread that never comes.
template <typename Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

class ProgressThread : public testing::Test {
 protected:
  void SetUp() override {
    advanced = rested = 0;
    answer = Moves::kNothing;
    internal::watched = 1;
  }
  void TearDown() override {
    stop_progress_thread();
    internal::watched = 0;
  }
};

TEST_F(ProgressThread, MovesCallsThatNobodyLooksAfterAndRestsWhenThereIsNone) {
  call_progress_thread(kTask, kWork);
  wait_until([] { return advanced >= 3; });
  EXPECT_EQ(rested, 0);
  answer = Moves::kNone;
  wait_until([] { return rested != 0; });
  const int before = advanced;
  answer = Moves::kSomething;
  internal::watched = 1;
  call_progress_thread(kTask, kWork);
  wait_until([&] { return advanced > before; });
}

TEST_F(ProgressThread, LeavesCallsToAProgramThatLooks) {
  std::atomic<bool> ends{false};
  std::thread program([&] {
    while (!ends) internal::looks_made.fetch_add(1, std::memory_order_relaxed);
  });
  wait_until([] { return internal::looks_made > 1000; });
  call_progress_thread(kTask, kWork);
  // As many looks as the thread could have taken in; it may have missed some where the program's thread had no core.
  const uint32_t first = internal::looks_made;
  wait_until([&] { return internal::looks_made - first > 1'000'000; });
  const int while_looking = advanced;
  ends = true;
  program.join();
  wait_until([&] { return advanced > while_looking + 3; });
}

TEST_F(ProgressThread, EndsAndComesAgain) {
  for (int round = 0; round < 3; ++round) {
    const int before = advanced;
    call_progress_thread(kTask, kWork);
    wait_until([&] { return advanced > before; });
    stop_progress_thread();
    const int after = advanced;
    std::this_thread::yield();
    EXPECT_EQ(advanced, after);
  }
}

}  // namespace
}  // namespace hocket::interposer
