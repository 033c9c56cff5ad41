// SPDX-License-Identifier: BSD-3-Clause
#include "platform/waiting/placement.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace hocket::platform {
namespace {

cpu_set_t own_mask() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return allowed;
}

std::vector<int> own_cores() {
  const cpu_set_t allowed = own_mask();
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  return cores;
}

// A rank with a peer for each core that this process may use, in a thread of its own; its mask must stay as it is.
class Placement : public testing::Test {
 protected:
  Placement() : cores_(own_cores()), all_(cores_.size() + 1) {
    for (Turn& turn : all_) turns_.push_back(&turn);
  }
  template <typename Body>
  void in_a_moved_thread(const Body& body) {
    std::thread([&] {
      const cpu_set_t before = own_mask();
      body(Turns(turns_, 0));
      const cpu_set_t after = own_mask();
      EXPECT_TRUE(CPU_EQUAL(&before, &after));
    }).join();
  }

  // Whether a thread that begins on one core is on another after `move()`. The kernel may move it again at any time, so
  // it has several tries.
  template <typename Move>
  static bool ends_on(int to, int from, const Move& move) {
    constexpr int kTries = 1000;
    const cpu_set_t all = own_mask();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(from, &one);
    for (int i = 0; i < kTries; ++i) {
      EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
      EXPECT_TRUE(move());
      if (sched_getcpu() == to) return true;
    }
    return false;
  }

  std::vector<int> cores_;
  std::vector<Turn> all_;
  std::vector<Turn*> turns_;
};

TEST_F(Placement, MovesToThePreferredCoreIfNoPeerIsThere) {
  in_a_moved_thread([&](const Turns& turns) {
    for (const int core : cores_) {
      EXPECT_TRUE(ends_on(core, cores_.front(), [&] { return move_away(turns, core); })) << core;
      EXPECT_TRUE(all_[0].was_on(core));
    }
  });
}

TEST_F(Placement, MovesToTheOneCoreWithoutAPeer) {
  if (cores_.size() < 2) GTEST_SKIP() << "one core";
  for (size_t i = 0; i + 1 < cores_.size(); ++i) all_[i + 1].come_to(cores_[i]);
  in_a_moved_thread([&](const Turns& turns) {
    for (const int preferred : {cores_.front(), -1, CPU_SETSIZE}) {
      EXPECT_TRUE(ends_on(cores_.back(), cores_.front(), [&] { return move_away(turns, preferred); })) << preferred;
      EXPECT_TRUE(all_[0].was_on(cores_.back())) << preferred;
    }
  });
}

TEST_F(Placement, LeavesACoreForTheNextAllowedOne) {
  if (cores_.size() < 2) {
    in_a_moved_thread([](const Turns&) { EXPECT_FALSE(leave_core()); });
    return;
  }
  in_a_moved_thread([&](const Turns&) {
    EXPECT_TRUE(ends_on(cores_[1], cores_[0], leave_core));
    EXPECT_TRUE(ends_on(cores_.front(), cores_.back(), leave_core));
  });
}

TEST_F(Placement, MovesToTheOneCoreThatNoPeerHasMarked) {
  CoreTable table{};
  CoreMarks marks(table, 0);
  for (size_t i = 0; i < cores_.size(); ++i) CoreMarks(table, static_cast<uint32_t>(i + 1)).mark(cores_[i]);
  in_a_moved_thread([&](const Turns&) { EXPECT_FALSE(move_away(marks)); });
  if (cores_.size() < 2) return;
  table.marks[cores_.back()] = 0;
  in_a_moved_thread([&](const Turns&) {
    EXPECT_TRUE(ends_on(cores_.back(), cores_.front(), [&] { return move_away(marks); }));
    EXPECT_FALSE(marks.has_peer_on(cores_.back()));
  });
  EXPECT_TRUE(CoreMarks(table, 1).has_peer_on(cores_.back())) << "it has said where it goes";
}

TEST_F(Placement, KeepsItsCoreAloneWherePeersAreUnknown) {
  in_a_moved_thread([&](const Turns&) {
    const AvoidPeers stays{AvoidPeers::AllCoresButOwn()};
    const cpu_set_t narrowed = own_mask();
    EXPECT_EQ(CPU_COUNT(&narrowed), 1);
    EXPECT_TRUE(CPU_ISSET(sched_getcpu(), &narrowed));
  });
}

TEST_F(Placement, StaysWhereEachCoreHasAPeer) {
  for (size_t i = 0; i < cores_.size(); ++i) all_[i + 1].come_to(cores_[i]);
  in_a_moved_thread([&](const Turns& turns) {
    EXPECT_FALSE(move_away(turns, -1));
    EXPECT_FALSE(move_away(turns, cores_.front()));
  });
}

TEST_F(Placement, AvoidsPeersAsLongAsItIsToAndKeepsItsCore) {
  if (cores_.size() < 2) GTEST_SKIP() << "one core";
  in_a_moved_thread([&](const Turns& turns) {
    ASSERT_TRUE(move_away(turns, cores_.front()));
    all_[1].come_to(cores_.back());
    const cpu_set_t before = own_mask();
    {
      const AvoidPeers none(nullptr);
      const cpu_set_t during = own_mask();
      EXPECT_TRUE(CPU_EQUAL(&before, &during));
    }
    {
      const int here = sched_getcpu();
      const AvoidPeers avoid(&turns);
      const cpu_set_t during = own_mask();
      EXPECT_EQ(CPU_COUNT(&during), CPU_COUNT(&before) - (here == cores_.back() ? 0 : 1));
      EXPECT_EQ(CPU_ISSET(cores_.back(), &during) != 0, here == cores_.back());
    }
    const cpu_set_t after = own_mask();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  });
}

TEST_F(Placement, LeavesAMaskThatAnotherHasChangedMeanwhile) {
  if (cores_.size() < 2) GTEST_SKIP() << "one core";
  std::thread([&] {
    const Turns turns(turns_, 0);
    for (size_t i = 1; i < cores_.size(); ++i) all_[i].come_to(cores_[i]);
    ASSERT_TRUE(move_away(turns, cores_.front()));
    cpu_set_t other;
    CPU_ZERO(&other);
    CPU_SET(cores_.back(), &other);
    {
      const AvoidPeers avoid(&turns);
      ASSERT_EQ(sched_setaffinity(0, sizeof other, &other), 0);
    }
    const cpu_set_t after = own_mask();
    EXPECT_TRUE(CPU_EQUAL(&other, &after));
  }).join();
}

TEST_F(Placement, NeverLeavesItsMask) {
  in_a_moved_thread([&](const Turns& turns) {
    cpu_set_t one;
    const cpu_set_t before = own_mask();
    CPU_ZERO(&one);
    CPU_SET(cores_.front(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    all_[1].come_to(cores_.front());
    for (const int preferred : {-1, cores_.front(), cores_.front() + 1, CPU_SETSIZE - 1, CPU_SETSIZE}) {
      EXPECT_FALSE(move_away(turns, preferred)) << preferred;
      const cpu_set_t after = own_mask();
      EXPECT_TRUE(CPU_EQUAL(&one, &after));
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  });
}

}  // namespace
}  // namespace hocket::platform
