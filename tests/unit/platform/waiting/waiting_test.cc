// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/waiting.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <string>
#include <vector>

#include "base/clock.h"
#include "platform/child_process.h"
#include "platform/waiting/parking.h"
#include "platform/waiting/time_slice.h"

namespace hocket::platform {
namespace {

// The kinds of action of one wait in order, each once, until it sleeps or `most` looks were made.
std::vector<WaitAction> actions(Waiter& waiter, int most) {
  std::vector<WaitAction> seen;
  waiter.start();
  for (int i = 0; i < most; ++i) {
    const WaitAction action = waiter.pause();
    if (seen.empty() || seen.back() != action) seen.push_back(action);
    if (action == WaitAction::kSleep) break;
  }
  return seen;
}

constexpr int kManyLooks = 100'000'000;

TEST(Waiter, DoesNotSleepWhilePeersNeedItsPolls) {
  for (const WaitMode mode : {WaitMode::kAutomatic, WaitMode::kSleep}) {
    WaitPolicy policy;
    policy.mode = mode;
    policy.spin_ns = policy.yield_ns = 0;
    Waiter waiter(policy);
    waiter.start();
    for (int look = 0; look < 1000; ++look) ASSERT_NE(waiter.pause(false, true), WaitAction::kSleep);
    int looks = 0;
    while (waiter.pause(false, false) != WaitAction::kSleep) ASSERT_LT(++looks, 1000);
  }
}

TEST(Waiter, SpinsThenYieldsThenSleepsWithACoreOfItsOwn) {
  WaitPolicy policy;
  policy.yield_ns = 200'000;
  Waiter waiter(policy);
  EXPECT_EQ(actions(waiter, kManyLooks), (std::vector{WaitAction::kSpin, WaitAction::kYield, WaitAction::kSleep}));
  EXPECT_GE(waiter.waited_ns(), policy.yield_ns);
  waiter.woken(false);
  EXPECT_EQ(waiter.pause(), WaitAction::kSleep) << "goes on sleeping";
}

TEST(Waiter, YieldsAtOnceWhenOversubscribed) {
  WaitPolicy policy;
  policy.oversubscribed = true;
  Waiter waiter(policy);
  EXPECT_EQ(actions(waiter, kManyLooks), (std::vector{WaitAction::kYield, WaitAction::kSleep}));
}

TEST(Waiter, ForcedModesKeepToTheirAction) {
  for (auto [mode, action] :
       {std::pair{WaitMode::kSpin, WaitAction::kSpin}, std::pair{WaitMode::kYield, WaitAction::kYield},
        std::pair{WaitMode::kSleep, WaitAction::kSleep}}) {
    WaitPolicy policy;
    policy.mode = mode;
    policy.spin_ns = policy.yield_ns = 0;
    for (const bool oversubscribed : {false, true}) {
      policy.oversubscribed = oversubscribed;
      Waiter waiter(policy);
      EXPECT_EQ(actions(waiter, 10'000), std::vector{action});
      EXPECT_GT(waiter.waited_ns(), 0) << "or whoever waits never finds out for how long";
    }
  }
}

TEST(Waiter, SleepsGrowWhileNothingHappensAndAreBounded) {
  Waiter waiter(WaitPolicy{});
  waiter.start();
  EXPECT_EQ(waiter.sleep_ns(), Waiter::kFirstSleepNs);
  waiter.woken(false);
  EXPECT_EQ(waiter.sleep_ns(), 2 * Waiter::kFirstSleepNs);
  for (int i = 0; i < 20; ++i) waiter.woken(false);
  EXPECT_EQ(waiter.sleep_ns(), Waiter::kLongestSleepNs);
  waiter.woken(true);
  EXPECT_EQ(waiter.sleep_ns(), Waiter::kFirstSleepNs);
}

TEST(Waiter, NextWaitBeginsAfresh) {
  WaitPolicy policy;
  policy.yield_ns = 0;
  Waiter waiter(policy);
  actions(waiter, kManyLooks);
  waiter.woken(false);
  waiter.start();
  EXPECT_EQ(waiter.pause(), WaitAction::kSpin);
  EXPECT_EQ(waiter.waited_ns(), 0);
  EXPECT_EQ(waiter.sleep_ns(), Waiter::kFirstSleepNs);
}

constexpr int kNoSuchYields = 77;  // not every kernel's yield gives way for a whole time slice

bool bind_to_this_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

// Yields beside a process that computes on the same core until is_over(waiter), for seconds at most. Runs in a child.
template <typename IsOver>
void wait_beside_load(Waiter& waiter, const IsOver& is_over) {
  if (!bind_to_this_core()) return;
  const pid_t load = start_child([] {
    std::atomic<uint64_t> work{0};
    while (true) work.fetch_add(1, std::memory_order_relaxed);
    return 0;
  });
  waiter.start();
  const uint64_t give_up = now_ns() + 5'000'000'000;
  while (!is_over(waiter) && now_ns() < give_up) waiter.pause();
  kill(load, SIGKILL);
  end_of_child(load);
}

// Two ranks' turns in memory that a child shares.
class SharedTurns {
 public:
  SharedTurns() {
    void* memory = mmap(nullptr, 2 * sizeof(Turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) turns_ = static_cast<Turn*>(memory);
  }
  ~SharedTurns() { munmap(turns_, 2 * sizeof(Turn)); }
  bool ok() const { return turns_ != nullptr; }
  Turns of(uint32_t rank) const { return {{&turns_[0], &turns_[1]}, rank}; }

 private:
  Turn* turns_ = nullptr;
};

TEST(Turns, CountTheTimeOfOthersOnOneCore) {
  constexpr int kCore = 3;
  constexpr int64_t kMs = 1'000'000;
  Turn turns[2] = {};
  const Turns mine({&turns[0], &turns[1]}, 0);
  const Turns its({&turns[0], &turns[1]}, 1);
  EXPECT_EQ(mine.of_others_ns(kCore, 0, kMs), 0);
  mine.report(kCore, 100 * kMs, 500 * kMs);
  EXPECT_EQ(mine.of_others_ns(kCore, 0, 1000 * kMs), 0);
  its.report(kCore, 100 * kMs, 400 * kMs);
  EXPECT_EQ(mine.of_others_ns(kCore, 0, 1000 * kMs), 300 * kMs);
  EXPECT_EQ(mine.of_others_ns(kCore, 200 * kMs, 300 * kMs), 100 * kMs);
  EXPECT_EQ(mine.of_others_ns(kCore, 400 * kMs, 1000 * kMs), 0);
  EXPECT_EQ(mine.of_others_ns(kCore, 0, 100 * kMs), 0);
  EXPECT_EQ(mine.of_others_ns(kCore + 1, 0, 1000 * kMs), 0);
  its.report(kCore, 400 * kMs + 1000, 500 * kMs);  // one turn in two parts
  EXPECT_EQ(mine.of_others_ns(kCore, 0, 1000 * kMs), 400 * kMs);
  its.report(kCore, 600 * kMs, 700 * kMs);  // another
  EXPECT_EQ(mine.of_others_ns(kCore, 0, 1000 * kMs), 100 * kMs);
}

TEST(Turns, KnowWhereRanksWereLast) {
  Turn turns[2] = {};
  const Turns mine({&turns[0], &turns[1]}, 0);
  EXPECT_FALSE(mine.has_peer_on(0)) << "nothing has been published";
  mine.come_to(0);
  EXPECT_FALSE(mine.has_peer_on(0)) << "it is no peer of itself";
  turns[1].wake_from(0, 5);
  EXPECT_TRUE(mine.has_peer_on(0));
  EXPECT_EQ(mine.woke_ns(), 0);
  turns[1].come_to(1);
  EXPECT_FALSE(mine.has_peer_on(0));
}

TEST(OwnTurn, TakesTwoLongYieldsForForeignLoad) {
  constexpr int64_t kMs = 1'000'000;
  Turn turns[2] = {};
  const Turns mine({&turns[0], &turns[1]}, 0);
  const Turns its({&turns[0], &turns[1]}, 1);
  OwnTurn turn(&mine, /*has_hidden_peers=*/false);
  EXPECT_EQ(turn.foreign_ns(0, 100 * kMs, 103 * kMs), 0) << "a peer may report later";
  EXPECT_EQ(turn.foreign_ns(0, 103 * kMs, 105 * kMs), 3 * kMs);
  EXPECT_EQ(turn.foreign_ns(0, 107 * kMs, 110 * kMs), 0) << "the last has been for too long";
  its.report(0, 107 * kMs, 112 * kMs);
  EXPECT_EQ(turn.foreign_ns(0, 110 * kMs, 112 * kMs), 0) << "both were a peer's";
  EXPECT_EQ(turn.foreign_ns(0, 112 * kMs, 115 * kMs), 0);
  EXPECT_EQ(turn.foreign_ns(0, 115 * kMs, 115 * kMs + 1000), 0) << "short";
  OwnTurn beside_hidden(&mine, /*has_hidden_peers=*/true);
  for (int64_t at = 200; at < 220; at += 2) EXPECT_EQ(beside_hidden.foreign_ns(0, at * kMs, (at + 2) * kMs), 0);
}

WaitPolicy endless_yields() {
  WaitPolicy policy;
  policy.oversubscribed = true;
  policy.yield_ns = int64_t{1} << 60;
  return policy;
}

// No longer than the yield that has shown it took.
TEST(Waiter, LearnsOtherLoadAndForgetsIt) {
  const int status = in_child([] {
    Waiter waiter(endless_yields());
    bool has_seen = false;
    wait_beside_load(waiter, [&](const Waiter& one) { return has_seen = one.sees_load(); });
    if (!has_seen) return kNoSuchYields;
    const uint64_t give_up = now_ns() + 5'000'000'000;
    WaitAction action = WaitAction::kSleep;
    while (action == WaitAction::kSleep && now_ns() < give_up) {
      waiter.start();
      action = waiter.pause();
    }
    return action == WaitAction::kYield && !waiter.sees_load() ? 0 : 1;
  });
  if (status == kNoSuchYields) GTEST_SKIP() << "yields are short here";
  EXPECT_EQ(status, 0);
}

constexpr int64_t kSliceNs = 100'000;

// All ranks must have them from the same time on: one that comes by shorter ones later keeps the core from the others.
TEST(Waiter, AsksForShortSlicesAtOnceWhenOversubscribed) {
  if (time_slice_ns() == 0) GTEST_SKIP() << "this kernel has no time slices to be asked for";
  const int status = in_child([] {
    WaitPolicy policy = endless_yields();
    policy.slice_ns = kSliceNs;
    Waiter waiter(policy);
    if (time_slice_ns() == kSliceNs) return 1;
    waiter.prepare();
    return time_slice_ns() == kSliceNs ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(Waiter, LeavesSlicesAloneWithACoreOfItsOwn) {
  if (time_slice_ns() == 0) GTEST_SKIP() << "this kernel has no time slices to be asked for";
  const int status = in_child([] {
    WaitPolicy policy;
    policy.slice_ns = kSliceNs;
    policy.spin_ns = 0;
    Waiter waiter(policy);
    waiter.prepare();
    waiter.start();
    waiter.pause();
    return time_slice_ns() == kSliceNs ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

uint64_t processor_time_ns(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<uint64_t>(used.tv_sec) * kNanosecondsPerSecond + static_cast<uint64_t>(used.tv_nsec);
}

enum Verdict { kNoLoad, kLoad, kDisturbed };

// What a rank that waits says of one that works in pieces of 3 ms on its core, and tells of them or not. A trial in
// which anything else had the core for long enough to count is disturbed. Runs in a child.
int judges_its_peer(bool writer, bool has_hidden_peers = false) {
  const SharedTurns shared;
  if (!shared.ok() || !bind_to_this_core()) return kNoSuchYields;
  const pid_t peer = start_child([&] {
    const Turns its = shared.of(1);
    while (true) {
      const auto begin = static_cast<int64_t>(now_ns());
      while (static_cast<int64_t>(now_ns()) - begin < 3'000'000) {
      }
      if (writer) its.report(sched_getcpu(), begin, static_cast<int64_t>(now_ns()));
      sched_yield();
    }
    return 0;
  });
  const Turns mine = shared.of(0);
  WaitPolicy policy = endless_yields();
  policy.turns = &mine;
  policy.has_hidden_peers = has_hidden_peers;
  Waiter waiter(policy);
  const auto time_of_others_ns = [&] { return now_ns() - processor_time_ns(peer) - processor_time_ns(getpid()); };
  const uint64_t others_before_ns = time_of_others_ns();
  const uint64_t give_up = now_ns() + 300'000'000;
  waiter.start();
  while (!waiter.sees_load() && now_ns() < give_up) waiter.pause();
  const bool disturbed = time_of_others_ns() - others_before_ns > 500'000;
  kill(peer, SIGKILL);
  end_of_child(peer);
  if (waiter.sees_load()) return disturbed ? kDisturbed : kLoad;
  return kNoLoad;
}

// What comes between decides nothing.
int judges_its_peer_undisturbed(bool writer, bool has_hidden_peers = false) {
  int verdict = kDisturbed;
  for (int trial = 0; trial < 20 && verdict == kDisturbed; ++trial)
    verdict = in_child([=] { return judges_its_peer(writer, has_hidden_peers); });
  return verdict;
}

// A rank of the job that has the core for long must do its work anyway; whether it tells makes the difference.
TEST(Waiter, DoesNotTakeTheWorkOfItsOwnJobForOtherLoad) {
  for (const bool writer : {true, false}) {
    const int verdict = judges_its_peer_undisturbed(writer);
    if (verdict == kDisturbed || verdict == kNoSuchYields) GTEST_SKIP() << "the core is not for these two alone";
    if (!writer && verdict == kNoLoad) GTEST_SKIP() << "yields are short here";
    EXPECT_EQ(verdict, writer ? kNoLoad : kLoad);
  }
}

// Ranks of other nodes on this machine can't tell what they did.
TEST(Waiter, TakesNobodyForOtherLoadWherePeersAreHidden) {
  if (judges_its_peer_undisturbed(false) != kLoad) GTEST_SKIP() << "no long yields here";
  EXPECT_EQ(judges_its_peer_undisturbed(false, /*has_hidden_peers=*/true), kNoLoad);
}

TEST(Waiter, SecondsOfWaitingCostNextToNoProcessorTime) {
  rusage before{};
  rusage after{};
  ParkingPlace place;
  Waiter waiter(WaitPolicy{});
  getrusage(RUSAGE_THREAD, &before);
  const uint64_t end = now_ns() + 1'000'000'000;
  waiter.start();
  int sleeps = 0;
  while (now_ns() < end) {
    if (waiter.pause() != WaitAction::kSleep) continue;
    place.parked = 1;
    waiter.woken(park(place, waiter.sleep_ns()));
    place.parked = 0;
    ++sleeps;
  }
  getrusage(RUSAGE_THREAD, &after);
  const auto used_us = [](const rusage& use) {
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1'000'000 + use.ru_utime.tv_usec + use.ru_stime.tv_usec;
  };
  RecordProperty("processor_time_us", std::to_string(used_us(after) - used_us(before)));
  // Not of time but of work: a second is at most 4 growing sleeps and then one every 10 ms.
  EXPECT_LE(sleeps, 110);
  EXPECT_GT(sleeps, 0);
}

}  // namespace
}  // namespace hocket::platform
