// SPDX-License-Identifier: BSD-3-Clause
// Allgathers by multicast: ranks carry out the plans of one call after the other, in any order, over a network that
// loses, doubles and mixes, and a wire that takes its time.
#include "carriers/multicast_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/registered.h"
#include "c_api/foreign_wire.h"
#include "carriers/multicast_steps.h"
#include "engines/executor/execution.h"
#include "support/multicast_network.h"
#include "support/wire.h"

#if defined(__has_feature) && !defined(HOCKET_HAS_LEAK_CHECK)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define HOCKET_HAS_LEAK_CHECK
#endif
#endif

namespace hocket::carriers {
namespace {
namespace of_rows {  // some builds take several tests as one source

using engines::Instruction;
using engines::Operands;
using engines::Program;
using engines::Progress;
using engines::StepState;
using schedule::Buffer;

constexpr uint32_t kFragmentBytes = 1024;
constexpr uint32_t kStream = 1;
constexpr auto kUntouched = std::byte{0x5a};
// Far more than any of these takes.
constexpr int kMostTurns = 20'000'000;

struct Gathering {
  uint64_t bytes = 0;  // of a block
  uint32_t chains = 0;
};

std::byte content_at(uint64_t number, uint32_t rank, uint64_t at) {
  return static_cast<std::byte>(number * 31 + rank * 57 + at * 7 + at / 251);
}

std::vector<Gathering> some_gatherings(uint32_t ranks, size_t count, std::mt19937& random) {
  constexpr uint64_t kMost[] = {1, 200, kFragmentBytes + 1, 20'000, 90'000};
  std::vector<Gathering> made(count);
  for (Gathering& one : made)
    one = {random() % kMost[random() % std::size(kMost)], 1 + static_cast<uint32_t>(random() % (ranks + 1))};
  return made;
}

// Steps that go by multicast and the messages beside them, as a track has them.
class Gatherer final : private engines::Transport {
 public:
  Gatherer(test::MulticastNetwork& multicasts, test::Network& messages, uint32_t rank, uint32_t ranks)
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
                .delay = {},
                .seed = 11,
                .self = rank,
                .participants = everybody(ranks),
                .reported_bytes = 8 * kFragmentBytes},
        steps_(shared_, channel_, kStream) {}

  void give(const std::vector<Gathering>& gatherings) {
    gatherings_ = gatherings;
    for (const Gathering& one : gatherings_) rows_.emplace_back(one.bytes * ranks_, kUntouched);
  }
  bool is_over() const { return done_ == gatherings_.size(); }
  size_t done() const { return done_; }

  // As Track::poll() and one look at each step do.
  void advance() {
    if (!steps_.poll()) {
      channel_.move();
      steps_.after_poll();
    }
    if (is_over()) return;
    if (!execution_.is_running()) start();
    if (execution_.advance() == Progress::kPending) return;
    expect_right();
    // From here on the memory is the caller's again.
    std::fill(rows_[done_].begin(), rows_[done_].end(), kUntouched);
    ++done_;
  }
  bool has_leftovers() const { return channel_.left() != 0 || steps_.has_leftovers(); }
  bool has_failed() const { return steps_.has_failed() || channel_.has_failed(); }
  Status take_failure() { return channel_.has_failed() ? channel_.take_failure() : steps_.take_failure(); }
  void cancel() {
    channel_.cancel();
    steps_.cancel();
  }
  void expect_memory_left_alone() const {
    for (const auto& row : rows_)
      EXPECT_TRUE(std::all_of(row.begin(), row.end(), [](std::byte one) { return one == kUntouched; }));
  }
  const engines::multicast::Counters& counters() const { return shared_.member.counters(); }
  std::vector<std::vector<std::byte>> take_rows() { return std::move(rows_); }

 private:
  static std::vector<uint32_t> everybody(uint32_t ranks) {
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
  void begin(const Program& program) override { steps_.begin(program); }
  Progress run(const Instruction& step, StepState& state, const Operands& operands) override {
    return MulticastSteps::carries(step, program_) ? steps_.run(step, state, operands)
                                                   : channel_.run(step, state, operands);
  }
  Progress finish() override { return Progress::kDone; }

  void start() {
    const Gathering& now = gatherings_[done_];
    schedule::Shape shape;
    shape.rank = rank_;
    shape.size = ranks_;
    shape.degree = now.chains;
    shape.in_place = true;
    program_ = engines::bind(algorithms::make_plan(algorithms::allgather_multicast, shape), now.bytes, 1);
    std::byte* row = rows_[done_].data();
    std::byte* own = row + now.bytes * rank_;
    for (uint64_t at = 0; at < now.bytes; ++at) own[at] = content_at(done_, rank_, at);
    execution_.operands().base[static_cast<int>(Buffer::kInput)] = own;
    execution_.operands().base[static_cast<int>(Buffer::kOutput)] = row;
    execution_.start(program_, *this);
  }
  void expect_right() const {
    const uint64_t bytes = gatherings_[done_].bytes;
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      for (uint64_t at = 0; at < bytes; ++at)
        ASSERT_EQ(rows_[done_][rank * bytes + at], content_at(done_, rank, at))
            << "rank " << rank_ << ", call " << done_ << ", byte " << at << " of " << bytes << " of rank " << rank;
  }

  uint32_t rank_;
  uint32_t ranks_;
  std::shared_ptr<engines::wire::Wire> wire_;
  engines::wire::Channel channel_;
  MulticastShared shared_;
  MulticastSteps steps_;
  std::vector<Gathering> gatherings_;
  std::vector<std::vector<std::byte>> rows_;
  size_t done_ = 0;
  Program program_;
  engines::Execution execution_;
};

struct Trouble {
  const char* name;
  uint32_t lost_percent;
  uint32_t doubled_percent;
  bool mixes;
};

struct Team {
  Team(const Trouble& trouble, uint32_t ranks, uint32_t seed) : messages(ranks, seed), random(seed) {
    multicasts.random.seed(seed);
    multicasts.lost_percent = trouble.lost_percent;
    multicasts.doubled_percent = trouble.doubled_percent;
    multicasts.mixes = trouble.mixes;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      members.push_back(std::make_unique<Gatherer>(multicasts, messages, rank, ranks));
  }
  void give(const std::vector<Gathering>& gatherings) {
    for (const auto& one : members) one->give(gatherings);
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
  bool complete() {
    return turns_until([](const auto& one) { return one->is_over() && !one->has_leftovers(); });
  }

  test::MulticastNetwork multicasts;
  test::Network messages;
  std::mt19937 random;
  std::vector<std::unique_ptr<Gatherer>> members;
  size_t absent = 0;
};

// What is under way when a channel ends is given to the wire for good, which leak checkers rightly notice.
class GivenForGood {
#ifdef HOCKET_HAS_LEAK_CHECK
  __lsan::ScopedDisabler disabler_;
#endif
};

class MulticastRowOf : public testing::TestWithParam<std::tuple<Trouble, uint32_t>> {
 protected:
  static constexpr uint32_t kSeeds = 3;
};

TEST_P(MulticastRowOf, GathersAndTouchesNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    team.give(some_gatherings(ranks, 30, team.random));
    ASSERT_TRUE(team.complete());
    uint64_t missed = 0;
    for (const auto& one : team.members) {
      EXPECT_FALSE(one->has_failed());
      one->expect_memory_left_alone();
      missed += one->counters().missed;
    }
    if (trouble.lost_percent > 0) {
      EXPECT_GT(missed, 0u);
    }
    EXPECT_TRUE(team.messages.is_empty());
  }
}

// Half of the ranks are gone in the middle of it, and the others go on as far as they get.
TEST_P(MulticastRowOf, EndsInTheMiddleAndTouchesNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  [[maybe_unused]] const GivenForGood what_is_under_way;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    team.give(some_gatherings(ranks, 30, team.random));
    const auto far = static_cast<size_t>(1 + team.random() % 20);
    ASSERT_TRUE(team.turns_until([&](const auto& one) { return one->done() >= far; }));
    std::vector<std::vector<std::byte>> left;
    while (team.members.size() > ranks / 2) {
      Gatherer& gone = *team.members.back();
      gone.cancel();
      for (auto& row : gone.take_rows()) left.push_back(std::move(row));
      team.members.pop_back();
    }
    const auto as_they_were = left;
    for (int turn = 0; turn < 4000; ++turn) team.members[team.random() % team.members.size()]->advance();
    EXPECT_EQ(left, as_they_were);
    for (const auto& one : team.members) one->cancel();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Communicator, MulticastRowOf,
    testing::Combine(testing::Values(Trouble{"Nothing", 0, 0, false}, Trouble{"Doubled", 0, 50, true},
                                     Trouble{"FewLost", 1, 0, false}, Trouble{"SomeLost", 20, 20, true},
                                     Trouble{"AllLost", 100, 0, false}),
                     testing::Values(2u, 3u, 9u)),
    [](const auto& info) {
      return std::string(std::get<0>(info.param).name) + "Of" + std::to_string(std::get<1>(info.param));
    });

// Per rank and call: one multicast, and two offers with an answer each at most, whatever the number of ranks, where all
// are there from the beginning and each takes its turn.
TEST(MulticastRow, TakesFewMessagesWhereNothingIsMissed) {
  constexpr uint32_t kRanks = 16;
  constexpr size_t kCalls = 10;
  Team team({"Nothing", 0, 0, false}, kRanks, 1);
  team.give(std::vector<Gathering>(kCalls, {100, kRanks}));
  for (int turn = 0; turn < kMostTurns; ++turn) {
    if (std::all_of(team.members.begin(), team.members.end(),
                    [](const auto& one) { return one->is_over() && !one->has_leftovers(); }))
      break;
    for (const auto& one : team.members) one->advance();
  }
  for (const auto& one : team.members) {
    ASSERT_TRUE(one->is_over());
    EXPECT_EQ(one->counters().sent, kCalls);
    EXPECT_EQ(one->counters().missed, 0u);
  }
  EXPECT_LE(team.messages.messages(), kRanks * kCalls * 6);
}

// A rank whose blocks are shorter than those of others is told so, and none takes the wrong bytes.
TEST(MulticastRow, TellsThatCountsDoNotMatch) {
  [[maybe_unused]] const GivenForGood what_is_under_way;
  Team team({"Nothing", 0, 0, false}, 3, 1);
  team.give({{5000, 3}});
  team.members[1]->give({{4999, 3}});
  const auto any_failed = [&] {
    return std::any_of(team.members.begin(), team.members.end(), [](const auto& one) { return one->has_failed(); });
  };
  for (int turn = 0; turn < 100'000 && !any_failed(); ++turn) team.members[team.random() % 3]->advance();
  ASSERT_TRUE(any_failed());
  for (const auto& one : team.members) {
    EXPECT_EQ(one->done(), 0u);
    if (one->has_failed()) {
      const Status failure = one->take_failure();
      EXPECT_EQ(failure.code(), Code::kMismatch);
      EXPECT_NE(std::string_view(failure.message()).find("the counts of the two ranks don't match"),
                std::string_view::npos)
          << failure.message();
    }
    one->cancel();
  }
}

}  // namespace of_rows
}  // namespace
}  // namespace hocket::carriers
