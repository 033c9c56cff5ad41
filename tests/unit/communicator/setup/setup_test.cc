// SPDX-License-Identifier: BSD-3-Clause
// What ranks come to agree on when a communicator is set up, and what all of them hear when one can't be.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "c_api/internal/call.h"
#include "communicator/ranks.h"

namespace hocket::communicator {
namespace {

constexpr uint32_t kRanks = 4;

class SetUp : public testing::Test {
 protected:
  ~SetUp() override {
    unsetenv("HOCKET_ALLREDUCE");
    unsetenv("HOCKET_TABLE");
    std::remove(table_.c_str());
  }
  // What all ranks hear, which is the same.
  std::string refusal(const RanksOptions& options, Code code) {
    std::array<std::string, kRanks> signs_of_life;
    run_ranks(options, network_, [&](uint32_t rank, Result<std::unique_ptr<Communicator>> made) {
      ASSERT_FALSE(made.is_ok());
      EXPECT_EQ(made.status().code(), code) << made.status().message();
      signs_of_life[rank] = made.status().message();
    });
    for (const std::string& other : signs_of_life) EXPECT_EQ(other, signs_of_life[0]);
    return signs_of_life[0];
  }
  // What rank 3 says of an allreduction, after a barrier of all.
  std::string explanation(const RanksOptions& options) {
    std::string text;
    run_ranks(options, network_, [&](uint32_t rank, Result<std::unique_ptr<Communicator>> made) {
      ASSERT_TRUE(made.is_ok()) << made.status().message();
      EXPECT_TRUE(made.value()->run(Arguments{}).is_ok());
      if (rank == 3) text = made.value()->explain({.collective = schedule::Collective::kAllreduce, .count = 64});
      EXPECT_TRUE(made.value()->close().is_ok());
    });
    return text;
  }
  // Ranks on two nodes, of which one's wire has as many tags.
  RanksOptions with_tags(uint32_t of, uint32_t tags) {
    RanksOptions options{kRanks, 2};
    options.change = [this, of, tags](uint32_t rank, ContextOptions& wanted) {
      hocket_wire_t wire = network_.wire_of(rank);
      if (rank == of || of == kRanks) wire.tags = tags;
      wanted.wire = c_api::foreign_wire(wire).take();
    };
    return options;
  }

  test::Network network_{kRanks, 1};
  const std::string table_ = testing::TempDir() + "setup_" + std::to_string(getpid()) + ".table";
};

TEST_F(SetUp, WithinANodeNeedsNoWire) {
  RanksOptions options{kRanks, kRanks};
  options.change = [](uint32_t, ContextOptions& wanted) { wanted.wire = nullptr; };
  EXPECT_FALSE(explanation(options).empty());
  EXPECT_EQ(network_.messages(), 0u);
}

TEST_F(SetUp, BetweenNodesNeedsAWireOnAllRanks) {
  RanksOptions options{kRanks, 2};
  options.change = [](uint32_t rank, ContextOptions& wanted) {
    if (rank == 1) wanted.wire = nullptr;
  };
  const std::string signs_of_life = refusal(options, Code::kNotSupported);
  EXPECT_NE(signs_of_life.find("rank 1 has no wire to other nodes"), std::string::npos) << signs_of_life;
}

TEST_F(SetUp, RefusesWiresThatDiffer) {
  const uint32_t tags = network_.wire_of(0).tags;
  const std::string signs_of_life = refusal(with_tags(2, tags - 1), Code::kMismatch);
  const std::string processes = " tags for " + std::to_string(network_.wire_of(0).size) + " processes";
  const std::string expected = "the wire of rank 0 has " + std::to_string(tags) + processes + ", that of rank 2 " +
                               std::to_string(tags - 1) + processes;
  EXPECT_EQ(signs_of_life.rfind(expected, 0), 0u) << signs_of_life;
}

TEST_F(SetUp, RefusesWiresWithTooFewTags) {
  const uint32_t least = kLeastTags * network_.wire_of(0).size;
  const std::string signs_of_life = refusal(with_tags(kRanks, least - 1), Code::kNotSupported);
  EXPECT_NE(signs_of_life.find("are not enough for a communicator; it takes " + std::to_string(least)),
            std::string::npos)
      << signs_of_life;
}

class Refusing final : public carriers::EngineType {
 public:
  const char* name() const override { return "refusing"; }
  const char* setting() const override { return "TEST_REFUSING"; }
  Result<carriers::EngineOffer> offer(bool) override { return Status(Code::kInvalidArgument, "TEST_REFUSING=maybe"); }
  std::unique_ptr<carriers::Engine> propose(const std::vector<carriers::EngineOffer>&, const carriers::EngineMeeting&,
                                            std::string&) override {
    return nullptr;
  }
  bool is_required(const std::vector<carriers::EngineOffer>&) const override { return false; }
};

TEST_F(SetUp, OfOneRankThatFailsFailsOnAll) {
  for (const uint32_t ranks_a_node : {kRanks, kRanks / 2}) {
    RanksOptions options{kRanks, ranks_a_node};
    options.change = [](uint32_t rank, ContextOptions& wanted) {
      if (rank != 2) return;
      wanted.engines = [] {
        carriers::EngineTypes types;
        types.push_back(std::make_unique<Refusing>());
        return types;
      };
    };
    EXPECT_EQ(refusal(options, Code::kInvalidArgument), "rank 2: TEST_REFUSING=maybe") << ranks_a_node;
  }
}

TEST_F(SetUp, HeedsTheSettingsOfRankZeroOnOneNodeAndOnSeveral) {
  setenv("HOCKET_ALLREDUCE", "linear", 1);
  for (const uint32_t ranks_a_node : {kRanks, kRanks / 2})
    EXPECT_NE(explanation({kRanks, ranks_a_node}).find("linear"), std::string::npos) << ranks_a_node;
  setenv("HOCKET_ALLREDUCE", "rign", 1);
  for (const uint32_t ranks_a_node : {kRanks, kRanks / 2}) {
    const std::string signs_of_life = refusal({kRanks, ranks_a_node}, Code::kInvalidArgument);
    EXPECT_EQ(signs_of_life.rfind("rank 0: HOCKET_ALLREDUCE=rign: ", 0), 0u) << signs_of_life;
  }
}

// Longer than what goes in one round to other nodes.
TEST_F(SetUp, BringsALongTableToAllNodes) {
  std::ofstream table(table_);
  table << "hocket-table 1\n";
  for (int line = 2; line < 100; ++line) table << "# that of line " << line << " is a comment of some length\n";
  table << "allreduce nodes=2 linear\n";
  table.close();
  setenv("HOCKET_TABLE", table_.c_str(), 1);
  const std::string text = explanation({kRanks, 2});
  EXPECT_NE(text.find("HOCKET_TABLE of rank 0, line 100"), std::string::npos) << text;
}

// Counts the rounds in which rank 0 takes part.
struct CountedSeat {
  ThreadsBootstrap::Seat seat;
  int* rounds;
  static int allgather(const void* send, void* receive, size_t bytes, void* user) {
    auto& self = *static_cast<CountedSeat*>(user);
    if (self.seat.rank == 0) ++*self.rounds;
    return ThreadsBootstrap::allgather(send, receive, bytes, &self.seat);
  }
};

// Sets up a communicator of `size` ranks by `bootstrap` and sums up a vector that is longer than any buffer in it.
void use_one(Context& context, ThreadsBootstrap& bootstrap, uint32_t rank, uint32_t size, int& rounds,
             std::string* explained = nullptr) {
  CountedSeat seat{{&bootstrap, rank}, &rounds};
  Result<std::unique_ptr<Communicator>> made =
      Communicator::create(context, {rank, size, CountedSeat::allgather, &seat});
  ASSERT_TRUE(made.is_ok()) << made.status().message();
  std::vector<int64_t> input(100'000, rank + 1), output(input.size());
  Arguments sum;
  sum.collective = schedule::Collective::kAllreduce;
  sum.input = reinterpret_cast<const std::byte*>(input.data());
  sum.output = reinterpret_cast<std::byte*>(output.data());
  sum.count = input.size();
  c_api::set_kernel(HOCKET_SUM, HOCKET_INT64, sum);
  EXPECT_TRUE(made.value()->run(sum).is_ok());
  EXPECT_EQ(output, std::vector<int64_t>(input.size(), int64_t{size} * (size + 1) / 2));
  if (explained != nullptr)
    *explained = made.value()->explain({.collective = schedule::Collective::kAllreduce, .count = 64});
  EXPECT_TRUE(made.value()->close().is_ok());
}

// Ranks as threads, each with a context that lasts.
void run_job(
    uint32_t expected, const std::function<void(Context&, uint32_t)>& body,
    const std::function<void(uint32_t, ContextOptions&)>& change = [](uint32_t, ContextOptions&) {},
    uint32_t ranks_a_job = kRanks) {
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      ContextOptions wanted;
      wanted.memory_limit = size_t{64} << 20;
      change(rank, wanted);
      Result<std::unique_ptr<Context>> context = Context::create(wanted);
      ASSERT_TRUE(context.is_ok()) << context.status().message();
      context.value()->expect_ranks(expected, 1 + rank / ranks_a_job);
      body(*context.value(), rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SetUp, TakesOneRoundAmongRanksThatHaveAllMet) {
  ThreadsBootstrap all(kRanks), half(kRanks / 2);
  int first = 0, second = 0, third = 0;
  std::string explained[kRanks];
  run_job(kRanks, [&](Context& context, uint32_t rank) {
    use_one(context, all, rank, kRanks, first);
    if (rank == 0) setenv("HOCKET_ALLREDUCE", "linear", 1);
    use_one(context, all, rank, kRanks, second, &explained[rank]);
    if (rank < kRanks / 2) use_one(context, half, rank, kRanks / 2, third);
    EXPECT_EQ(context.communicators(), 0u);
  });
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(third, 1);
  for (const std::string& text : explained) EXPECT_NE(text.find("linear"), std::string::npos) << text;
}

TEST_F(SetUp, TakesTwoRoundsWhereOneOfTheJobHasNotMetTheOthers) {
  ThreadsBootstrap half(kRanks / 2), again(kRanks / 2);
  int first = 0, second = 0;
  run_job(kRanks, [&](Context& context, uint32_t rank) {
    if (rank >= kRanks / 2) return;
    use_one(context, half, rank, kRanks / 2, first);
    use_one(context, again, rank, kRanks / 2, second);
  });
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 2);
}

// As many as are in each of them, too.
TEST_F(SetUp, TakesTwoRoundsAmongRanksOfTwoJobsEachOfWhichHasMet) {
  constexpr uint32_t kRanksAJob = kRanks / 2;
  ThreadsBootstrap jobs[2] = {ThreadsBootstrap(kRanksAJob), ThreadsBootstrap(kRanksAJob)};
  ThreadsBootstrap pairs[2] = {ThreadsBootstrap(2), ThreadsBootstrap(2)};
  ThreadsBootstrap all(kRanks);
  int met[2] = {}, paired[2] = {}, together = 0, again[2] = {};
  run_job(
      kRanksAJob,
      [&](Context& context, uint32_t rank) {
        const uint32_t job = rank / kRanksAJob, place = rank % kRanksAJob;
        use_one(context, jobs[job], place, kRanksAJob, met[job]);
        use_one(context, pairs[place], job, 2, paired[place]);
        use_one(context, all, rank, kRanks, together);
        use_one(context, jobs[job], place, kRanksAJob, again[job]);
      },
      [](uint32_t, ContextOptions&) {}, kRanksAJob);
  for (const int one : {0, 1}) {
    EXPECT_EQ(met[one], 2);
    EXPECT_EQ(paired[one], 2);
    EXPECT_EQ(again[one], 1);
  }
  EXPECT_EQ(together, 2);
}

// Not there, though it must be: all ranks hear so when they have met.
class Missing final : public carriers::EngineType {
 public:
  const char* name() const override { return "missing"; }
  const char* setting() const override { return "TEST_MISSING"; }
  Result<carriers::EngineOffer> offer(bool) override { return carriers::EngineOffer{}; }
  std::unique_ptr<carriers::Engine> propose(const std::vector<carriers::EngineOffer>&, const carriers::EngineMeeting&,
                                            std::string& why_not) override {
    why_not = "it is missing";
    return nullptr;
  }
  bool is_required(const std::vector<carriers::EngineOffer>&) const override { return true; }
};

carriers::EngineTypes one_is_missing() {
  carriers::EngineTypes types;
  types.push_back(std::make_unique<Missing>());
  return types;
}

// What it takes for a communicator that then can't be is given back: memory that is shared, and what is mapped of it.
TEST_F(SetUp, LeavesNothingWhereItFailed) {
  constexpr int kTimes = 500;
  ThreadsBootstrap all(kRanks), neighbours[2] = {ThreadsBootstrap(2), ThreadsBootstrap(2)};
  std::vector<platform::Address> addresses(kRanks);
  int rounds[2] = {};
  const auto on_two_nodes = [&](uint32_t rank, ContextOptions& wanted) {
    wanted.wire = c_api::foreign_wire(network_.wire_of(rank)).take();
    wanted.node = 1 + rank / 2;
    wanted.engines = one_is_missing;
  };
  const auto body = [&](Context& context, uint32_t rank) {
    addresses[rank] = context.connector().address();
    ThreadsBootstrap::Seat seat{&all, rank};
    for (int i = 0; i < kTimes; ++i) {
      const auto made = Communicator::create(context, {rank, kRanks, ThreadsBootstrap::allgather, &seat});
      ASSERT_FALSE(made.is_ok());
      ASSERT_STREQ(made.status().message(), "rank 0: TEST_MISSING=on can't be honoured: it is missing") << i;
    }
    for (uint32_t other = 0; other < kRanks; ++other)
      EXPECT_EQ(context.connector().known({addresses[other]}).has_value(), other == rank);
    use_one(context, neighbours[rank / 2], rank % 2, 2, rounds[rank / 2]);
  };
  run_job(kRanks, body, on_two_nodes);
}

TEST_F(SetUp, FailsWithTheBootstrap) {
  ContextOptions wanted;
  wanted.memory_limit = size_t{64} << 20;
  Result<std::unique_ptr<Context>> context = Context::create(wanted);
  ASSERT_TRUE(context.is_ok()) << context.status().message();
  const auto fails = [](const void*, void*, size_t, void*) { return 1; };
  const auto made = Communicator::create(*context.value(), {0, 2, fails, nullptr});
  ASSERT_FALSE(made.is_ok());
  EXPECT_STREQ(made.status().message(), "the bootstrap's all-gather failed");
  EXPECT_EQ(context.value()->communicators(), 0u);
}

}  // namespace
}  // namespace hocket::communicator
