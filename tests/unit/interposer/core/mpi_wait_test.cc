// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_wait.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "core/awaited_progress.h"

namespace hocket::interposer {
namespace {

constexpr int kLooks = 256;  // several times as many as between two looks at the clock

MpiWaitPolicy sleeping_at_once() {
  MpiWaitPolicy policy;
  policy.looks = Looks::kByHook;
  return policy;
}

// How often the calling thread gave up its core because it slept.
long sleeps_in(int looks) {
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < looks; ++i) pause_in_mpi();
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_nvcsw - before.ru_nvcsw;
}

TEST(MpiWait, IsOverWithTheJob) {
  EXPECT_EQ(looks(), Looks::kByMpi);
  begin_mpi_waits(sleeping_at_once());
  EXPECT_EQ(looks(), Looks::kByHook);
  end_mpi_waits();
  EXPECT_EQ(looks(), Looks::kByMpi);
}

TEST(MpiWait, PausesOnlyInCallsOfThisThread) {
  begin_mpi_waits(sleeping_at_once());
  EXPECT_LT(sleeps_in(kLooks), 4) << "the MPI looks in a call that may not wait";
  {
    const MpiWait wait;
    long others = kLooks;
    std::thread([&] { others = sleeps_in(kLooks); }).join();
    EXPECT_LT(others, 4) << "a progress thread of the MPI";
    EXPECT_GT(sleeps_in(kLooks), kLooks / 2);
  }
  EXPECT_LT(sleeps_in(kLooks), 4) << "the call has returned";
  end_mpi_waits();
}

TEST(MpiWait, StaysAwakeAtFirst) {
  MpiWaitPolicy policy = sleeping_at_once();
  policy.wait.spin_ns = int64_t{3600} * 1'000'000'000;
  begin_mpi_waits(policy);
  const MpiWait wait;
  EXPECT_LT(sleeps_in(kLooks), 4);
  end_mpi_waits();
}

TEST(MpiWait, EachCallBeginsAfresh) {
  MpiWaitPolicy policy = sleeping_at_once();
  policy.wait.spin_ns = 1'000'000;
  begin_mpi_waits(policy);
  {
    const MpiWait wait;
    while (sleeps_in(kLooks) < kLooks / 2) {
    }
  }
  const MpiWait next;
  EXPECT_LT(sleeps_in(64), 4);
  end_mpi_waits();
}

void use_processor(int64_t ns) {
  for (const int64_t end = processor_time_ns() + ns; processor_time_ns() < end;) {
  }
}

TEST(MpiWait, StaysAwakeWhileLooksMoveSomething) {
  MpiWaitPolicy policy = sleeping_at_once();
  policy.wait.spin_ns = 2'000'000;
  begin_mpi_waits(policy);
  const MpiWait wait;
  while (sleeps_in(64) < 32) {
  }
  // Looks that take a millisecond are no idle ones, whatever else runs: at the second it is awake again.
  long slept = 0;
  for (int look = 0; look < 20; ++look) {
    use_processor(1'000'000);
    slept += sleeps_in(1);
  }
  EXPECT_LE(slept, 4);
  while (sleeps_in(64) < 32) {  // and sleeps in the end
  }
  end_mpi_waits();
}

TEST(MpiWait, WaitsLongerWhereOthersMayWorkOnAWindow) {
  awaited_progress.window_comes();
  begin_mpi_waits(sleeping_at_once());
  const MpiWait wait;
  EXPECT_LT(sleeps_in(kLooks), 4);
  const auto began = std::chrono::steady_clock::now();
  while (sleeps_in(64) < 32) {
  }
  EXPECT_GT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(20));
  awaited_progress.window_goes();
  end_mpi_waits();
}

TEST(MpiWait, NeverSleepsInModesSpinAndYield) {
  for (const platform::WaitMode mode : {platform::WaitMode::kSpin, platform::WaitMode::kYield}) {
    MpiWaitPolicy policy = sleeping_at_once();
    policy.wait.mode = mode;
    begin_mpi_waits(policy);
    const MpiWait wait;
    EXPECT_LT(sleeps_in(kLooks), 4);
    end_mpi_waits();
  }
}

TEST(MpiWait, TestLoopsNeverSleep) {
  begin_mpi_waits(sleeping_at_once());
  rusage before{}, after{};
  getrusage(RUSAGE_THREAD, &before);
  for (int test = 0; test < 100 * kLooks; ++test) after_test(false);
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, kLooks / 2);
  after_test(true);
  end_mpi_waits();
}

TEST(MpiWait, ACallWithinACallIsPartOfIt) {
  begin_mpi_waits(sleeping_at_once());
  const MpiWait outer;
  EXPECT_GT(sleeps_in(kLooks), kLooks / 2);
  {
    const MpiWait inner;
    EXPECT_GT(sleeps_in(8), 4) << "the wait goes on";
  }
  EXPECT_GT(sleeps_in(8), 4);
  end_mpi_waits();
}

}  // namespace
}  // namespace hocket::interposer
