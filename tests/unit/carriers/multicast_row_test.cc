// SPDX-License-Identifier: BSD-3-Clause
// Allgathers by multicast: ranks carry out the plans of one call after the other, in any order, over a network that
// loses, doubles and mixes, and a wire that takes its time.
#include "carriers/multicast_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/registered.h"
#include "carriers/multicast_team.h"
#include "engines/executor/execution.h"

namespace hocket::carriers {
namespace {
namespace of_rows {  // some builds take several tests as one source

using engines::Progress;
using multicast_tests::GivenForGood;
using multicast_tests::kFragmentBytes;
using multicast_tests::kMostTurns;
using multicast_tests::Trouble;
using schedule::Buffer;

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

class Gatherer final : public multicast_tests::Rank, private engines::Transport {
 public:
  using Rank::Rank;

  void give(const std::vector<Gathering>& gatherings) {
    gatherings_ = gatherings;
    for (const Gathering& one : gatherings_) add_buffer(one.bytes * ranks_);
  }
  void advance() {
    poll();
    if (is_over()) return;
    if (!execution_.is_running()) start();
    if (execution_.advance() == Progress::kPending) return;
    expect_right();
    end_call();
  }

 private:
  void begin(const engines::Program& program) override { steps_.begin(program); }
  Progress run(const engines::Instruction& step, engines::StepState& state,
               const engines::Operands& operands) override {
    return run_step(step, state, operands);
  }
  Progress finish() override { return Progress::kDone; }

  void start() {
    const Gathering& now = gatherings_[done()];
    schedule::Shape shape;
    shape.rank = rank_;
    shape.size = ranks_;
    shape.degree = now.chains;
    shape.in_place = true;
    program_ = engines::bind(algorithms::make_plan(algorithms::allgather_multicast, shape), now.bytes, 1);
    std::byte* own = buffer() + now.bytes * rank_;
    for (uint64_t at = 0; at < now.bytes; ++at) own[at] = content_at(done(), rank_, at);
    execution_.operands().base[static_cast<int>(Buffer::kInput)] = own;
    execution_.operands().base[static_cast<int>(Buffer::kOutput)] = buffer();
    execution_.start(program_, *this);
  }
  void expect_right() const {
    const uint64_t bytes = gatherings_[done()].bytes;
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      for (uint64_t at = 0; at < bytes; ++at)
        ASSERT_EQ(buffer()[rank * bytes + at], content_at(done(), rank, at))
            << "rank " << rank_ << ", call " << done() << ", byte " << at << " of " << bytes << " of rank " << rank;
  }

  std::vector<Gathering> gatherings_;
  engines::Execution execution_;
};

using Team = multicast_tests::Team<Gatherer>;

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
    team.expect_completes(trouble);
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
    team.expect_half_leave_after(1 + team.random() % 20);
  }
}

#ifdef HOCKET_SANITIZED
constexpr uint32_t kMostRanks = 5;
#else
constexpr uint32_t kMostRanks = 9;
#endif
INSTANTIATE_TEST_SUITE_P(
    Communicator, MulticastRowOf,
    testing::Combine(testing::Values(Trouble{"Nothing", 0, 0, false}, Trouble{"Doubled", 0, 50, true},
                                     Trouble{"FewLost", 1, 0, false}, Trouble{"SomeLost", 20, 20, true},
                                     Trouble{"AllLost", 100, 0, false}),
                     testing::Values(2u, 3u, kMostRanks)),
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
  team.give(std::vector<Gathering>{{5000, 3}});
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
