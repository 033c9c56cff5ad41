// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose steps go by multicast and by messages, as a track has them, over a network that loses, doubles and mixes,
// and a wire that takes its time. Who takes a turn next is drawn.
//
// Thread safety: one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "c_api/foreign_wire.h"
#include "carriers/multicast_steps.h"
#include "support/multicast_network.h"
#include "support/wire.h"

#if defined(__has_feature) && !defined(HOCKET_HAS_LEAK_CHECK)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define HOCKET_HAS_LEAK_CHECK
#endif
#endif

namespace hocket::carriers::multicast_tests {

constexpr uint32_t kFragmentBytes = 1024;
constexpr auto kUntouched = std::byte{0x5a};
// Far more than any of these takes.
constexpr int kMostTurns = 20'000'000;

struct Trouble {
  const char* name;
  uint32_t lost_percent;
  uint32_t doubled_percent;
  bool mixes;
};

// What is under way when a channel ends is given to the wire for good, which leak checkers rightly notice.
class GivenForGood {
#ifdef HOCKET_HAS_LEAK_CHECK
  __lsan::ScopedDisabler disabler_;
#endif
};

// A rank that makes calls one after the other: a buffer of the caller's for each, until it is done.
class Rank {
 public:
  Rank(test::MulticastNetwork& multicasts, test::Network& messages, uint32_t rank, uint32_t ranks, RootDelay delay = {})
      : rank_(rank),
        ranks_(ranks),
        wire_(c_api::foreign_wire(messages.wire_of(rank)).take()),
        channel_(*wire_, {.first = 3}, rank, everybody(ranks)),
        shared_{.member = {std::make_unique<test::MulticastNetworkPort>(multicasts),
                           {.key = {1, 2},
                            .group = 5,
                            .self = rank,
                            .fragment_bytes = kFragmentBytes,
                            .streams = kStream + 1,
                            .ranks = ranks},
                           1 << 14},
                .pace = engines::multicast::Pace(1 << 20),
                .adaptive = {},
                .delay = delay,
                .seed = 11,
                .self = rank,
                .participants = everybody(ranks),
                .reported_bytes = 8 * kFragmentBytes},
        steps_(shared_, channel_, kStream) {}

  size_t done() const { return done_; }
  bool is_over() const { return done_ == buffers_.size(); }
  // What nobody waits for must come as well.
  bool has_leftovers() const { return channel_.left() != 0 || steps_.has_leftovers(); }
  bool has_failed() const { return steps_.has_failed() || channel_.has_failed(); }
  Status take_failure() { return channel_.has_failed() ? channel_.take_failure() : steps_.take_failure(); }
  void cancel() {
    channel_.cancel();
    steps_.cancel();
  }
  void expect_memory_left_alone() const {
    for (const auto& buffer : buffers_)
      EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](std::byte one) { return one == kUntouched; }));
  }
  const engines::multicast::Counters& counters() const { return shared_.member.counters(); }
  // Of calls that are not over, what has come so far is the caller's as well, to keep or to lose.
  std::vector<std::vector<std::byte>> take_buffers() { return std::move(buffers_); }

 protected:
  void add_buffer(uint64_t bytes) { buffers_.emplace_back(bytes, kUntouched); }
  std::byte* buffer() { return buffers_[done_].data(); }
  const std::byte* buffer() const { return buffers_[done_].data(); }
  // As Track::poll() does.
  void poll() {
    if (steps_.poll()) return;
    channel_.move();
    steps_.after_poll();
  }
  engines::Progress run_step(const engines::Instruction& step, engines::StepState& state,
                             const engines::Operands& operands) {
    return MulticastSteps::carries(step, program_) ? steps_.run(step, state, operands)
                                                   : channel_.run(step, state, operands);
  }
  // From here on the memory is the caller's again.
  void end_call() {
    std::fill(buffers_[done_].begin(), buffers_[done_].end(), kUntouched);
    ++done_;
  }

  const uint32_t rank_;
  const uint32_t ranks_;
  engines::Program program_;

 private:
  static constexpr uint32_t kStream = 1;

  static std::vector<uint32_t> everybody(uint32_t ranks) {
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }

  std::shared_ptr<engines::wire::Wire> wire_;
  engines::wire::Channel channel_;
  MulticastShared shared_;

 protected:
  MulticastSteps steps_;

 private:
  std::vector<std::vector<std::byte>> buffers_;
  size_t done_ = 0;
};

template <typename Member>
struct Team {
  template <typename... Arguments>
  Team(const Trouble& trouble, uint32_t ranks, uint32_t seed, const Arguments&... arguments)
      : messages(ranks, seed), random(seed) {
    multicasts.random.seed(seed);
    multicasts.lost_percent = trouble.lost_percent;
    multicasts.doubled_percent = trouble.doubled_percent;
    multicasts.mixes = trouble.mixes;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      members.push_back(std::make_unique<Member>(multicasts, messages, rank, ranks, arguments...));
  }
  template <typename Calls>
  void give(const Calls& calls) {
    for (const auto& one : members) one->give(calls);
  }
  template <typename Condition>
  bool turns_until(const Condition& is_over) {
    for (int turn = 0; turn < kMostTurns; ++turn) {
      if (turn % 64 == 0) {
        if (std::all_of(members.begin(), members.end(), is_over)) return true;
        // Now and then somebody is not heard of for a while.
        absent = random() % (2 * members.size());
      }
      const size_t next = random() % members.size();
      if (next != absent) members[next]->advance();
    }
    return false;
  }
  // To the end, with nothing lost, wrong or written afterwards.
  void expect_completes(const Trouble& trouble) {
    ASSERT_TRUE(turns_until([](const auto& one) { return one->is_over() && !one->has_leftovers(); }));
    uint64_t missed = 0;
    for (const auto& one : members) {
      EXPECT_FALSE(one->has_failed());
      one->expect_memory_left_alone();
      missed += one->counters().missed;
    }
    // Where nothing is lost the chain may be first all the same.
    if (trouble.lost_percent > 0) {
      EXPECT_GT(missed, 0u);
    }
    EXPECT_TRUE(messages.is_empty());
  }
  // Half of the ranks are gone when all have made so many calls, and the others go on as far as they get.
  void expect_half_leave_after(size_t calls) {
    ASSERT_TRUE(turns_until([&](const auto& one) { return one->done() >= calls; }));
    const size_t half = members.size() / 2;
    std::vector<std::vector<std::byte>> left;
    while (members.size() > half) {
      Member& gone = *members.back();
      gone.cancel();
      for (auto& buffer : gone.take_buffers()) left.push_back(std::move(buffer));
      members.pop_back();
    }
    const auto as_they_were = left;
    for (int turn = 0; turn < 4000; ++turn) members[random() % members.size()]->advance();
    EXPECT_EQ(left, as_they_were);
    for (const auto& one : members) one->cancel();
  }

  test::MulticastNetwork multicasts;
  test::Network messages;
  std::mt19937 random;
  std::vector<std::unique_ptr<Member>> members;
  size_t absent = 0;
};

}  // namespace hocket::carriers::multicast_tests
