// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts by multicast and chain: ranks take their steps in any order, over a network that loses, doubles and mixes,
// and a wire that takes its time.
#include "carriers/multicast_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "carriers/multicast_team.h"

namespace hocket::carriers {
namespace {
namespace of_broadcasts {  // some builds take several tests as one source

using engines::Instruction;
using engines::Progress;
using engines::StepState;
using multicast_tests::GivenForGood;
using multicast_tests::kFragmentBytes;
using multicast_tests::Trouble;
using schedule::Buffer;
using schedule::StepKind;

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

// Carries out broadcasts as the executor would: begins one when the one before is over.
class Broadcaster final : public multicast_tests::Rank {
 public:
  using Rank::Rank;

  void give(const std::vector<Broadcast>& broadcasts) {
    broadcasts_ = broadcasts;
    for (const Broadcast& one : broadcasts_) add_buffer(one.bytes);
  }
  void advance() {
    poll();
    if (is_over()) return;
    const Broadcast& now = broadcasts_[done()];
    if (states_.empty()) begin(now);
    while (step_ < states_.size()) {
      if (run_step(instructions_[step_], states_[step_], operands_) == Progress::kPending) return;
      ++step_;
    }
    EXPECT_TRUE(is_right(now)) << "rank " << rank_ << ", broadcast " << done() << " of " << now.bytes << " bytes from "
                               << now.root;
    states_.clear();
    end_call();
  }

 private:
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
    for (uint64_t at = 0; is_root && at < now.bytes; ++at) buffer()[at] = content_at(done(), at);
    operands_.base[static_cast<int>(Buffer::kOutput)] = buffer();
    // 0 stands for a program that multicasts nothing: bind() counts a message of no bytes as one.
    program_.multicast_bytes = std::max<uint64_t>(now.bytes, 1);
    steps_.begin(program_);
  }
  bool is_right(const Broadcast& now) const {
    for (uint64_t at = 0; at < now.bytes; ++at)
      if (buffer()[at] != content_at(done(), at)) return false;
    return true;
  }

  std::vector<Broadcast> broadcasts_;
  size_t step_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<StepState> states_;
  engines::Operands operands_;
};

struct DelayedTrouble : Trouble {
  RootDelay::Kind delay;
};

class MulticastStepsOf : public testing::TestWithParam<std::tuple<DelayedTrouble, uint32_t>> {
 protected:
  static constexpr uint32_t kSeeds = 4;

  struct Team : multicast_tests::Team<Broadcaster> {
    Team(const DelayedTrouble& trouble, uint32_t ranks, uint32_t seed)
        : multicast_tests::Team<Broadcaster>(trouble, ranks, seed, RootDelay{trouble.delay, 1000}) {
      give(some_broadcasts(ranks, 60, random));
    }
  };
};

TEST_P(MulticastStepsOf, CarryOutBroadcastsAndTouchNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    team.expect_completes(trouble);
  }
}

// Half of the ranks are gone in the middle of it, and the others go on as far as they get.
TEST_P(MulticastStepsOf, EndInTheMiddleAndTouchNoMemoryAfterwards) {
  const auto& [trouble, ranks] = GetParam();
  [[maybe_unused]] const GivenForGood what_is_under_way;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Team team(trouble, ranks, seed);
    team.expect_half_leave_after(1 + team.random() % 40);
  }
}

using Kind = RootDelay::Kind;
INSTANTIATE_TEST_SUITE_P(Communicator, MulticastStepsOf,
                         testing::Combine(testing::Values(DelayedTrouble{{"Nothing", 0, 0, false}, Kind::kNone},
                                                          DelayedTrouble{{"Doubled", 0, 50, true}, Kind::kFixed},
                                                          DelayedTrouble{{"SomeLost", 20, 20, true}, Kind::kAdaptive},
                                                          DelayedTrouble{{"ManyLost", 70, 0, false}, Kind::kRandom},
                                                          DelayedTrouble{{"AllLost", 100, 0, false}, Kind::kNone}),
                                          testing::Values(2u, 3u, 7u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "Of" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace of_broadcasts
}  // namespace
}  // namespace hocket::carriers
