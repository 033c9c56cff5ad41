// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts by multicast and chain: ranks take their steps in any order, over a network that loses, doubles and mixes,
// and a wire that takes its time.
#include "carriers/multicast_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "c_api/foreign_wire.h"
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

using engines::Instruction;
using engines::Progress;
using engines::StepState;
using engines::wire::Channel;
using schedule::Buffer;
using schedule::StepKind;

constexpr uint32_t kFragmentBytes = 1024;
constexpr uint32_t kStream = 1;
constexpr auto kUntouched = std::byte{0x5a};
// Far more than any of these takes.
constexpr int kMostTurns = 20'000'000;

struct Broadcast {
  uint32_t root = 0;
  uint64_t bytes = 0;
};

std::byte content_at(uint64_t number, uint64_t at) { return static_cast<std::byte>(number * 31 + at * 7 + at / 251); }

// One after the other, of no bytes, of one fragment, of several, and long enough for offers and asks.
std::vector<Broadcast> some_broadcasts(uint32_t ranks, size_t count, std::mt19937& random) {
  constexpr uint64_t kMost[] = {1, 200, kFragmentBytes + 1, MulticastChain::kAtOnceBytes + 1, 200'000};
  std::vector<Broadcast> made(count);
  for (Broadcast& one : made)
    one = {static_cast<uint32_t>(random() % ranks), random() % kMost[random() % std::size(kMost)]};
  return made;
}

// A rank that carries out broadcasts as the executor would: begins one when the one before is over.
class Broadcaster {
 public:
  Broadcaster(test::MulticastNetwork& multicasts, test::Network& messages, uint32_t rank, uint32_t ranks,
              RootDelay delay)
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

  void give(const std::vector<Broadcast>& broadcasts) {
    broadcasts_ = broadcasts;
    for (const Broadcast& one : broadcasts_) buffers_.emplace_back(one.bytes, kUntouched);
  }
  bool is_over() const { return done_ == broadcasts_.size(); }
  size_t done() const { return done_; }

  // As Track::poll() and one look at each step do.
  void advance() {
    if (!steps_.poll()) {
      channel_.move();
      steps_.after_poll();
    }
    if (is_over()) return;
    const Broadcast& now = broadcasts_[done_];
    if (states_.empty()) begin(now);
    while (step_ < states_.size()) {
      const Instruction& step = instructions_[step_];
      const Progress progress = MulticastSteps::carries(step, program_) ? steps_.run(step, states_[step_], operands_)
                                                                        : channel_.run(step, states_[step_], operands_);
      if (progress == Progress::kPending) return;
      ++step_;
    }
    EXPECT_TRUE(is_right(now)) << "rank " << rank_ << ", broadcast " << done_ << " of " << now.bytes << " bytes from "
                               << now.root;
    // From here on the memory is the caller's again.
    std::fill(buffers_[done_].begin(), buffers_[done_].end(), kUntouched);
    states_.clear();
    ++done_;
  }
  // What nobody waits for must come as well.
  bool has_leftovers() const { return channel_.left() != 0 || steps_.has_leftovers(); }
  bool has_failed() const { return steps_.has_failed() || channel_.has_failed(); }
  void cancel() {
    channel_.cancel();
    steps_.cancel();
  }
  void expect_memory_left_alone() const {
    for (const auto& buffer : buffers_)
      EXPECT_TRUE(std::all_of(buffer.begin(), buffer.end(), [](std::byte one) { return one == kUntouched; }));
  }
  const engines::multicast::Counters& counters() const { return shared_.member.counters(); }
  // Of broadcasts that are not over, what has come so far is the caller's as well, to keep or to lose.
  std::vector<std::vector<std::byte>> take_buffers() { return std::move(buffers_); }

 private:
  static std::vector<uint32_t> everybody(uint32_t ranks) {
    std::vector<uint32_t> all(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) all[rank] = rank;
    return all;
  }
  void begin(const Broadcast& now) {
    const bool is_root = rank_ == now.root;
    Instruction first;
    first.kind = is_root ? StepKind::kMulticast : StepKind::kFirstOf;
    first.source = first.destination = Buffer::kOutput;
    first.peer = (rank_ + ranks_ - 1) % ranks_;
    first.second_peer = now.root;
    first.bytes = first.elements = now.bytes;
    instructions_ = {first};
    if (const uint32_t next = (rank_ + 1) % ranks_; next != now.root) {
      instructions_.push_back(first);
      instructions_[1].kind = StepKind::kSend;
      instructions_[1].peer = next;
      instructions_[1].to_first_of = true;
    }
    states_.resize(instructions_.size());
    step_ = 0;
    for (uint64_t at = 0; is_root && at < now.bytes; ++at) buffers_[done_][at] = content_at(done_, at);
    operands_.base[static_cast<int>(Buffer::kOutput)] = buffers_[done_].data();
    // 0 stands for a program that multicasts nothing: bind() counts a message of no bytes as one.
    program_.multicast_bytes = std::max<uint64_t>(now.bytes, 1);
    steps_.begin(program_);
  }
  bool is_right(const Broadcast& now) const {
    for (uint64_t at = 0; at < now.bytes; ++at)
      if (buffers_[done_][at] != content_at(done_, at)) return false;
    return true;
  }

  uint32_t rank_;
  uint32_t ranks_;
  std::shared_ptr<engines::wire::Wire> wire_;
  Channel channel_;
  MulticastShared shared_;
  MulticastSteps steps_;
  std::vector<Broadcast> broadcasts_;
  std::vector<std::vector<std::byte>> buffers_;
  size_t done_ = 0;
  size_t step_ = 0;
  engines::Program program_;
  std::vector<Instruction> instructions_;
  std::vector<StepState> states_;
  engines::Operands operands_;
};

struct Trouble {
  const char* name;
  uint32_t lost_percent;
  uint32_t doubled_percent;
  bool mixes;
  RootDelay::Kind delay;
};

// What is under way when a channel ends is given to the wire for good, which leak checkers rightly notice.
class GivenForGood {
#ifdef HOCKET_HAS_LEAK_CHECK
  __lsan::ScopedDisabler disabler_;
#endif
};

class MulticastStepsOf : public testing::TestWithParam<std::tuple<Trouble, uint32_t>> {
 protected:
  static constexpr uint32_t kSeeds = 4;

  // Ranks of a team whose turns `random` deals out.
  struct Team {
    Team(const Trouble& trouble, uint32_t ranks, uint32_t seed) : messages(ranks, seed), random(seed) {
      multicasts.random.seed(seed);
      multicasts.lost_percent = trouble.lost_percent;
      multicasts.doubled_percent = trouble.doubled_percent;
      multicasts.mixes = trouble.mixes;
      const std::vector<Broadcast> broadcasts = some_broadcasts(ranks, 60, random);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        members.push_back(
            std::make_unique<Broadcaster>(multicasts, messages, rank, ranks, RootDelay{trouble.delay, 1000}));
        members.back()->give(broadcasts);
      }
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
    test::MulticastNetwork multicasts;
    test::Network messages;
    std::mt19937 random;
    std::vector<std::unique_ptr<Broadcaster>> members;
    size_t absent = 0;
  };
};

TEST_P(MulticastStepsOf, CarryOutBroadcastsAndTouchNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    ASSERT_TRUE(team.turns_until([](const auto& one) { return one->is_over() && !one->has_leftovers(); }));
    uint64_t missed = 0;
    for (const auto& one : team.members) {
      EXPECT_FALSE(one->has_failed());
      one->expect_memory_left_alone();
      missed += one->counters().missed;
    }
    // Where nothing is lost the chain may be first all the same.
    if (trouble.lost_percent > 0) {
      EXPECT_GT(missed, 0u);
    }
    EXPECT_TRUE(team.messages.is_empty());
  }
}

// Half of the ranks are gone in the middle of it, and the others go on as far as they get.
TEST_P(MulticastStepsOf, EndInTheMiddleAndTouchNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  [[maybe_unused]] const GivenForGood what_is_under_way;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    const auto far = static_cast<size_t>(1 + team.random() % 40);
    ASSERT_TRUE(team.turns_until([&](const auto& one) { return one->done() >= far; }));
    std::vector<std::vector<std::byte>> left;
    while (team.members.size() > ranks / 2) {
      Broadcaster& gone = *team.members.back();
      gone.cancel();
      for (auto& buffer : gone.take_buffers()) left.push_back(std::move(buffer));
      team.members.pop_back();
    }
    const auto as_they_were = left;
    for (int turn = 0; turn < 4000; ++turn) team.members[team.random() % team.members.size()]->advance();
    EXPECT_EQ(left, as_they_were);
    for (const auto& one : team.members) one->cancel();
  }
}

using Kind = RootDelay::Kind;
INSTANTIATE_TEST_SUITE_P(Communicator, MulticastStepsOf,
                         testing::Combine(testing::Values(Trouble{"Nothing", 0, 0, false, Kind::kNone},
                                                          Trouble{"Doubled", 0, 50, true, Kind::kFixed},
                                                          Trouble{"SomeLost", 20, 20, true, Kind::kAdaptive},
                                                          Trouble{"ManyLost", 70, 0, false, Kind::kRandom},
                                                          Trouble{"AllLost", 100, 0, false, Kind::kNone}),
                                          testing::Values(2u, 3u, 7u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "Of" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace hocket::carriers
