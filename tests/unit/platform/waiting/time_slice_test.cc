// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "platform/child_process.h"

namespace hocket::platform {
namespace {

constexpr int64_t kShort = 200'000;

// In a thread of its own, so that the test's other threads keep theirs.
template <typename Body>
void in_a_thread(const Body& body) {
  std::thread(body).join();
}

TEST(TimeSlice, IsShortenedAndNeverLengthened) {
  if (time_slice_ns() == 0) GTEST_SKIP() << "this kernel does not tell an ordinary thread's time slice";
  in_a_thread([] {
    ASSERT_TRUE(shorten_time_slice(kShort));
    EXPECT_EQ(time_slice_ns(), kShort);
    EXPECT_TRUE(shorten_time_slice(10 * kShort));
    EXPECT_EQ(time_slice_ns(), kShort);
  });
}

TEST(TimeSlice, LeavesPolicyAndNiceValueAlone) {
  if (time_slice_ns() == 0) GTEST_SKIP() << "this kernel does not tell an ordinary thread's time slice";
  in_a_thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 3), 0);
    ASSERT_TRUE(shorten_time_slice(kShort));
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), 3);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  });
}

TEST(TimeSlice, IsGivenBack) {
  const int64_t usual = time_slice_ns();
  if (usual == 0) GTEST_SKIP() << "this kernel does not tell an ordinary thread's time slice";
  in_a_thread([usual] {
    restore_time_slice();
    EXPECT_EQ(time_slice_ns(), usual);
    ASSERT_TRUE(shorten_time_slice(2 * kShort));
    ASSERT_TRUE(shorten_time_slice(kShort));
    restore_time_slice();
    EXPECT_EQ(time_slice_ns(), usual);
  });
}

TEST(TimeSlice, ShorterThanTheKernelGrantsIsTheShortest) {
  if (time_slice_ns() == 0) GTEST_SKIP() << "this kernel does not tell an ordinary thread's time slice";
  in_a_thread([] {
    EXPECT_TRUE(shorten_time_slice(1));
    EXPECT_EQ(time_slice_ns(), 100'000);
  });
}

TEST(TimeSlice, LeavesTheProgramFreeToChooseItsPolicy) {
  const int status = in_child([] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) return 1;
    (void)shorten_time_slice(kShort);
    const sched_param parameters{};
    if (sched_setscheduler(0, SCHED_OTHER, &parameters) != 0) return 2;
    return sched_setscheduler(0, SCHED_BATCH, &parameters) == 0 ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

TEST(TimeSlice, OfAThreadOfAnotherPolicyIsLeftAlone) {
  in_a_thread([] {
    const sched_param parameters{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &parameters), 0);
    EXPECT_FALSE(shorten_time_slice(kShort));
  });
}

}  // namespace
}  // namespace hocket::platform
