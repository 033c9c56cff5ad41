// SPDX-License-Identifier: BSD-3-Clause
#include "bench/meeting.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

#include "support/wire.h"

namespace hocket::bench {
namespace {

// An all-gather among threads.
class Board {
 public:
  explicit Board(size_t ranks) : ranks_(ranks), together_(static_cast<std::ptrdiff_t>(ranks)) {}
  Gather gather_of(size_t rank) {
    return [this, rank](const void* send, void* receive, size_t bytes) {
      if (rank == 0) all_.resize(ranks_ * bytes);
      together_.arrive_and_wait();
      std::memcpy(all_.data() + rank * bytes, send, bytes);
      together_.arrive_and_wait();
      std::memcpy(receive, all_.data(), ranks_ * bytes);
      together_.arrive_and_wait();
    };
  }

 private:
  size_t ranks_;
  std::barrier<> together_;
  std::vector<char> all_;
};

template <typename Body>
void as_ranks(size_t ranks, const Body& body) {
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < ranks; ++rank) threads.emplace_back([&body, rank] { body(rank); });
}

// Nobody leaves a meeting before all have come, time after time.
void expect_all_meet(const std::vector<uint64_t>& machines, uint32_t expected_machines, Meeting::Waiting first) {
  constexpr int kTimes = 20;
  Board board(machines.size());
  test::Network network(static_cast<uint32_t>(machines.size()), 7);
  std::atomic<uint32_t> come{0};
  std::atomic<uint32_t> early{0};
  as_ranks(machines.size(), [&](size_t rank) {
    const hocket_wire_t wire = network.wire_of(static_cast<uint32_t>(rank));
    Meeting meeting(static_cast<int>(rank), machines, wire, board.gather_of(rank));
    EXPECT_EQ(meeting.machines(), expected_machines);
    for (uint32_t time = 1; time <= kTimes; ++time) {
      come.fetch_add(1);
      meeting.meet(rank == 0 ? first : Meeting::Waiting::kReady);
      if (come.load() < time * machines.size()) early.fetch_add(1);
    }
    // What is under way must arrive before the network goes.
    meeting.meet(Meeting::Waiting::kReady);
  });
  EXPECT_EQ(early.load(), 0u);
  EXPECT_TRUE(network.is_empty());
}

TEST(Meeting, OfOneMachineNobodyLeavesBeforeAllHaveCome) {
  expect_all_meet({9, 9, 9, 9, 9}, 1, Meeting::Waiting::kReady);
}

TEST(Meeting, OfSeveralMachinesNobodyLeavesBeforeAllHaveCome) {
  expect_all_meet({4, 8, 4, 6, 8, 4, 1}, 4, Meeting::Waiting::kReady);
  expect_all_meet({1, 2, 3}, 3, Meeting::Waiting::kReady);
}

TEST(Meeting, SomeMaySleepMeanwhile) { expect_all_meet({4, 8, 4, 8}, 2, Meeting::Waiting::kAsleep); }

TEST(SharedArea, IsSharedByThoseWithOneLabelOnly) {
  const std::vector<uint64_t> labels = {5, 3, 5, 3};
  Board board(labels.size());
  as_ranks(labels.size(), [&](size_t rank) {
    const Gather gather = board.gather_of(rank);
    const auto area = SharedArea::open(static_cast<int>(rank), labels, 4096, gather);
    ASSERT_NE(area, nullptr);
    char nothing = 0;
    char all[4];
    if (rank >= 2) area->memory()[4095] = static_cast<std::byte>(rank);
    gather(&nothing, all, 1);
    EXPECT_EQ(std::to_integer<size_t>(area->memory()[4095]), rank < 2 ? rank + 2 : rank);
    EXPECT_EQ(std::to_integer<size_t>(area->memory()[0]), 0u);
    gather(&nothing, all, 1);
  });
}

}  // namespace
}  // namespace hocket::bench
