// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/wake_board.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <csignal>
#include <functional>

#include "base/clock.h"
#include "platform/child_process.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::platform {
namespace {

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;
constexpr uint32_t kMostProcesses = 4;

// Shared by the processes of a test beside the board: addresses, and a barrier.
struct Meeting {
  std::array<WakeAddress, kMostProcesses> addresses;
  std::atomic<uint32_t> arrived;

  void wait_for_all(uint32_t processes, uint32_t round) {
    arrived.fetch_add(1);
    while (arrived.load() < processes * round) sched_yield();
  }
};

class Member {
 public:
  Member(Meeting& meeting, uint32_t own, uint32_t processes) : meeting_(meeting), processes_(processes), own_(own) {
    begin_record({static_cast<int>(own), static_cast<int>(processes), "test"});
    meeting.addresses[own] = WakeBoard::publish(1000 + own);
    meet();
    board_ = WakeBoard::join({meeting.addresses.begin(), meeting.addresses.begin() + processes}, own, true);
    meet();
  }
  void meet() { meeting_.wait_for_all(processes_, ++round_); }
  uint32_t own() const { return own_; }
  WakeBoard& board() { return *board_; }
  bool has_board() const { return board_ != nullptr; }

 private:
  Meeting& meeting_;
  uint32_t processes_, own_, round_ = 0;
  std::unique_ptr<WakeBoard> board_;
};

// Runs `body` in processes that are members of one board; returns 0 if it does in each.
int run_members(uint32_t processes, const std::function<int(Member&)>& body) {
  void* const memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const meeting = new (memory) Meeting();
  std::vector<pid_t> children;
  for (uint32_t own = 0; own < processes; ++own)
    children.push_back(start_child([&] {
      Member member(*meeting, own, processes);
      const int result = member.has_board() ? body(member) : 100;
      member.meet();
      return result;
    }));
  int failed = 0;
  for (const pid_t child : children) failed += end_of_child(child);
  munmap(memory, sizeof(Meeting));
  return failed;
}

// The sleep would take longer than the test may. Rings between the look and the sleep are most of them.
TEST(WakeBoard, EndsASleepByARingHoweverCloseTheyCome) {
  const int failed = run_members(2, [](Member& member) {
    constexpr int kRounds = 200;
    for (int round = 0; round < kRounds; ++round) {
      const bool sleeps = static_cast<int>(member.own()) == round % 2;
      const uint32_t seen = member.board().rings();
      member.meet();
      if (sleeps && !member.board().sleep(seen, kHourNs)) return 1;
      // A ring that follows another at once has no effect of its own.
      if (!sleeps) {
        const uint64_t until_ns = now_ns() + WakeBoard::kBetweenRingsNs;
        while (now_ns() < until_ns) sched_yield();
        member.board().ring(1 - member.own());
      }
      member.meet();
    }
    return 0;
  });
  EXPECT_EQ(failed, 0);
}

TEST(WakeBoard, EndsASleepByAnotherFutexToo) {
  const int failed = run_members(1, [](Member& member) {
    const std::atomic<uint32_t> changed{0}, unchanged{1};
    if (member.board().sleep(member.board().rings(), kHourNs, &changed)) return 1;  // at once, and not by a ring
    const uint64_t before_ns = now_ns();
    if (member.board().sleep(member.board().rings(), 1'000'000, &unchanged)) return 2;
    // Where the kernel can't wait for both it is shorter.
    return now_ns() - before_ns >= WakeBoard::kShortSleepNs ? 0 : 3;
  });
  EXPECT_EQ(failed, 0);
}

TEST(WakeBoard, CountsRanksThatWantToBeRung) {
  const int failed = run_members(kMostProcesses, [](Member& member) {
    if (!member.board().is_complete()) return 1;
    RingListener listener;
    listener.listen_at(&member.board());
    if (!listener.want_rings() || listener.want_rings()) return 4;
    member.meet();
    if (member.board().waiting().load() != kMostProcesses) return 2;
    member.meet();
    listener.end();
    listener.end();
    member.meet();
    return member.board().waiting().load() == 0 ? 0 : 3;
  });
  EXPECT_EQ(failed, 0);
}

TEST(WakeBoard, KeepsARungRankAwakeUntilItHasPolled) {
  const int failed = run_members(2, [](Member& member) {
    RingListener listener;
    listener.listen_at(&member.board());
    member.meet();
    if (member.own() == 0) member.board().ring(1);
    member.meet();
    if (member.own() == 0) return 0;
    const int64_t long_ago_ns = 1'000'000'000'000;
    if (listener.stays_awake(long_ago_ns)) return 1;
    if (!listener.is_newly_rung() || listener.is_newly_rung()) return 2;
    if (!listener.stays_awake(long_ago_ns)) return 3;  // it has to poll first
    listener.note(long_ago_ns);
    if (!listener.stays_awake(long_ago_ns + AwakeTime::kShortestNs - 1)) return 4;
    return listener.stays_awake(long_ago_ns + AwakeTime::kShortestNs) ? 5 : 0;
  });
  EXPECT_EQ(failed, 0);
}

TEST(WakeBoard, RingsAllOthersAndNoStranger) {
  const int failed = run_members(3, [](Member& member) {
    const uint32_t before = member.board().rings();
    member.meet();
    if (member.own() == 0) {
      member.board().ring_all();
      for (const uint32_t stranger : {0u, 3u, ~0u}) member.board().ring(stranger);
    }
    member.meet();
    return member.board().rings() == before + (member.own() == 0 ? 0 : 1) ? 0 : 1;
  });
  EXPECT_EQ(failed, 0);
}

// As where a peer is in a container, or has ended: it can't be found, and nothing else happens.
TEST(WakeBoard, LeavesARankAloneThatIsNotTheOneItWas) {
  const int failed = run_members(1, [](Member& member) {
    const WakeAddress own = WakeBoard::publish(7);
    const WakeAddress other_key{8, own.process, own.descriptor}, no_file{9, own.process, 1 << 20},
        no_process{10, 1 << 30, 3};
    for (const WakeAddress& wrong : {other_key, no_file, no_process, WakeAddress()}) {
      const std::unique_ptr<WakeBoard> board = WakeBoard::join({own, wrong}, 0, true);
      if (board == nullptr) return 1;
      board->ring(1);
      if (WakeBoard::join({wrong, own}, 1, true) != nullptr) return 2;
    }
    return member.board().rings() == 0 ? 0 : 3;
  });
  EXPECT_EQ(failed, 0);
}

TEST(AwakeTime, DoublesWhileRingsFollowAndIsForgotten) {
  AwakeTime awake;
  uint32_t accesses = 1;
  int64_t now_ns = kHourNs;
  awake.rung(now_ns, accesses);
  EXPECT_FALSE(awake.is_over(now_ns + AwakeTime::kShortestNs - 1));
  EXPECT_TRUE(awake.is_over(now_ns + AwakeTime::kShortestNs));
  for (int64_t expected_ns = 2 * AwakeTime::kShortestNs; expected_ns < AwakeTime::kLongestNs; expected_ns *= 2) {
    now_ns += expected_ns / 2 + 1;  // just after it has fallen asleep
    awake.rung(now_ns, ++accesses);
    EXPECT_FALSE(awake.is_over(now_ns + expected_ns - 1));
    EXPECT_TRUE(awake.is_over(now_ns + expected_ns));
  }
  now_ns += 3 * AwakeTime::kLongestNs;
  awake.rung(now_ns, ++accesses);
  EXPECT_TRUE(awake.is_over(now_ns + AwakeTime::kShortestNs));
}

TEST(AwakeTime, DoesNotDoubleByRingsOfRanksThatOnlyWait) {
  AwakeTime awake;
  int64_t now_ns = kHourNs;
  for (int ring = 0; ring < 100; ++ring) {
    now_ns += AwakeTime::kShortestNs + 1;
    awake.rung(now_ns, 0);
    EXPECT_FALSE(awake.is_over(now_ns + AwakeTime::kShortestNs - 1));
    EXPECT_TRUE(awake.is_over(now_ns + AwakeTime::kShortestNs));
  }
}

}  // namespace
}  // namespace hocket::platform
