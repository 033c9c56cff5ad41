// SPDX-License-Identifier: BSD-3-Clause
#include "tune/race.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <set>
#include <stdexcept>

#include "base/clock.h"

namespace hocket::command {
namespace {

class LoneWorld : public bench::World {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const schedule::Nodes& placement() const override { return placement_; }
  void synchronize() override {}
  void maximum(std::span<double>) override {}
  void allgather(const void* send, void* receive, size_t bytes) override { std::memcpy(receive, send, bytes); }

 private:
  schedule::Nodes placement_{1};
};

// An allreduce over one rank that takes so many turns of a loop.
class Slow : public bench::Variant {
 public:
  explicit Slow(int turns) : turns_(turns) {}
  std::string name() const override { return std::to_string(turns_); }
  std::string activate(schedule::Collective) override { return refuses ? "not here" : ""; }
  int run(const bench::Call& call) override {
    ++calls;
    // Of stores that no compiler leaves out.
    for (int turn = 0; turn < turns_; ++turn) last_turn_.store(turn, std::memory_order_relaxed);
    std::memcpy(call.output, call.input, call.count * sizeof(double));
    if (wrong) static_cast<double*>(call.output)[0] += 1;
    return 0;
  }
  std::string error(int) const override { return "refused"; }

  bool refuses = false;
  bool wrong = false;
  uint64_t calls = 0;

 private:
  int turns_;
  std::atomic<int> last_turn_{0};
};

struct Fixture {
  std::vector<double> input = std::vector<double>(16), output = std::vector<double>(16);
  bench::Buffers buffers{reinterpret_cast<std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data())};
  bench::Options options;
  LoneWorld world;
  const RaceCell cell{schedule::Collective::kAllreduce, 128};

  std::vector<RaceResult> run(std::vector<bench::Variant*> variants, bool drops = true) {
    options.batch_us = 100;
    return race(options, cell, world, buffers, variants, 0.02, drops);
  }
};

TEST(Race, MeasuresBothTimingsOfAllThatStand) {
  Fixture fixture;
  Slow quick(10), slower(15);
  const auto results = fixture.run({&quick, &slower});
  ASSERT_EQ(results.size(), 2u);
  for (const RaceResult& result : results) {
    EXPECT_GT(result.isolated_us, 0);
    EXPECT_GT(result.back_to_back_us, 0);
    EXPECT_GT(result.calls, 0u);
    EXPECT_GE(result.us(), std::min(result.isolated_us, result.back_to_back_us));
    EXPECT_LE(result.us(), std::max(result.isolated_us, result.back_to_back_us));
  }
}

TEST(Race, SpendsLittleOnWhatIsHopeless) {
  Fixture fixture;
  Slow quick(10), hopeless(3000000);  // milliseconds, on any machine
  const auto results = fixture.run({&hopeless, &quick});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].variant, 1u);
  EXPECT_LT(hopeless.calls, 20u);
}

// A single call of many ranks on few cores may end as if nothing had been in its way.
TEST(Race, ThrowsNobodyOutForOneLuckyGlance) {
  Fixture fixture;
  Slow lucky(10), good(300000), as_good(300000), fair(350000), hopeless(30000000);
  const auto results = fixture.run({&lucky, &good, &hopeless, &as_good, &fair});
  std::set<size_t> raced;
  for (const RaceResult& result : results) raced.insert(result.variant);
  EXPECT_EQ(raced, (std::set<size_t>{0, 1, 3, 4}));
}

TEST(Race, KeepsEverybodyWhereTwoAreToBeCompared) {
  Fixture fixture;
  Slow quick(10), slow(20000);
  const auto results = fixture.run({&slow, &quick}, false);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_GT(results[0].us(), results[1].us());
}

TEST(Race, LeavesOutWhatRefuses) {
  Fixture fixture;
  Slow quick(10), refusing(10);
  refusing.refuses = true;
  const auto results = fixture.run({&refusing, &quick});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].variant, 1u);
}

TEST(Race, EndsAtAWrongResult) {
  Fixture fixture;
  Slow wrong(10);
  wrong.wrong = true;
  EXPECT_THROW(fixture.run({&wrong}), std::runtime_error);
}

}  // namespace
}  // namespace hocket::command
