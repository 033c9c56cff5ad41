// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/takeover.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "communicator/ranks.h"

namespace hocket::communicator {
namespace {

constexpr uint32_t kThreads = 3;

// Ranks of one node whose job has met, as threads.
class TakingOver : public testing::Test {
 protected:
  struct Rank {
    uint32_t rank;
    Context& context;
    Communicator& job;
    ThreadsBootstrap::Seat& seat;

    // Not a call: threads meet.
    void meet() const {
      const char mine = 0;
      std::vector<char> all(kThreads);
      ThreadsBootstrap::allgather(&mine, all.data(), 1, &seat);
    }
    std::unique_ptr<Takeover> begin(uint64_t number, bool may_take_part = true) const {
      return begin_when(number, [this, may_take_part](bool wants_part) {
        return Takeover::Joining{&job, wants_part && may_take_part};
      });
    }
    std::unique_ptr<Takeover> begin_when(uint64_t number, Takeover::Join join) const {
      std::vector<uint32_t> everyone;
      for (uint32_t one = 0; one < kThreads; ++one) everyone.push_back(one);
      return std::make_unique<Takeover>(rank, everyone, number, 0, std::move(join));
    }
  };

  void run(const std::function<void(const Rank&)>& body) {
    ThreadsBootstrap bootstrap(kThreads);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < kThreads; ++rank) {
      threads.emplace_back([&, rank] {
        ContextOptions wanted;
        wanted.memory_limit = size_t{64} << 20;
        Result<std::unique_ptr<Context>> context = Context::create(wanted);
        ASSERT_TRUE(context.is_ok()) << context.status().message();
        context.value()->expect_ranks(kThreads);
        ThreadsBootstrap::Seat seat{&bootstrap, rank};
        Result<std::unique_ptr<Communicator>> job =
            Communicator::create(*context.value(), {rank, kThreads, ThreadsBootstrap::allgather, &seat});
        ASSERT_TRUE(job.is_ok()) << job.status().message();
        body({rank, *context.value(), *job.value(), seat});
        EXPECT_TRUE(job.value()->close().is_ok());
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // All ranks have left it.
  static void end(const Rank& rank, std::unique_ptr<Takeover> takeover) {
    while (!takeover->may_go()) std::this_thread::yield();
    takeover.reset();
    rank.meet();
  }
  static void close(std::unique_ptr<Communicator> made) {
    ASSERT_NE(made, nullptr);
    EXPECT_TRUE(made->run(Arguments{}).is_ok()) << "a barrier";
    EXPECT_TRUE(made->close().is_ok());
  }
};

TEST_F(TakingOver, ComesWithTheSameCallOnAllRanks) {
  constexpr uint32_t kRounds = 60, kCalls = 30;
  std::array<std::array<uint32_t, kRounds>, kThreads> firsts{};
  run([&](const Rank& rank) {
    std::minstd_rand random(rank.rank + 1);
    for (uint32_t round = 0; round < kRounds; ++round) {
      std::unique_ptr<Takeover> takeover = rank.begin(2 * round + 1);
      uint32_t call = 1;
      for (; call < kCalls && !takeover->take_next(); ++call) {
        if (call % 7 == 0) rank.meet();  // nobody is further ahead than that
        if (random() % 4 == 0) std::this_thread::yield();
      }
      firsts[rank.rank][round] = call;
      ASSERT_LT(call, kCalls) << "round " << round;
      std::unique_ptr<Communicator> made = takeover->take();
      EXPECT_TRUE(takeover->leave());
      // Who is behind comes to as many meetings.
      for (; call < kCalls; ++call)
        if (call % 7 == 0) rank.meet();
      close(std::move(made));
      end(rank, std::move(takeover));
    }
  });
  for (const auto& one : firsts) EXPECT_EQ(one, firsts[0]);
}

// However many calls have come before one in which all wait, or before the end, all ranks find the same.
TEST_F(TakingOver, IsSettledAlike) {
  constexpr uint32_t kRounds = 200;
  std::array<std::array<bool, kRounds>, kThreads> found{};
  run([&](const Rank& rank) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      std::unique_ptr<Takeover> takeover = rank.begin(2 * round + 1);
      bool has_taken_over = false;
      for (uint32_t call = 0; call < 1 + round % 5; ++call) {
        has_taken_over = takeover->take_next();
        if (round % 4 < 2) rank.meet();  // so that all have been heard
      }
      if (!has_taken_over) has_taken_over = round % 2 == 0 ? takeover->settle() : takeover->leave();
      EXPECT_EQ(takeover->leave(), has_taken_over);
      found[rank.rank][round] = has_taken_over;
      rank.meet();
      if (has_taken_over) close(takeover->take());
      end(rank, std::move(takeover));
    }
  });
  for (const auto& one : found) EXPECT_EQ(one, found[0]);
  std::array<int, 2> of_kind{};
  for (uint32_t round = 0; round < kRounds; ++round) of_kind[round % 2] += found[0][round] ? 1 : 0;
  EXPECT_GT(of_kind[0], 0) << "none has taken over in a call in which all wait";
  EXPECT_GT(of_kind[1], 0) << "none has taken over before the end";
}

// Each rank finds at a call of its own that the job has met: the takeover comes with the same call all the same, and
// where one never finds it, it comes for none.
TEST_F(TakingOver, ComesWithTheSameCallWhereverRanksFindThatTheJobHasMet) {
  constexpr uint32_t kRounds = 200, kCalls = 40;
  std::array<std::array<uint32_t, kRounds>, kThreads> firsts{};
  run([&](const Rank& rank) {
    std::minstd_rand random(rank.rank + 7);
    for (uint32_t round = 0; round < kRounds; ++round) {
      uint32_t call = 1;
      bool has_met = false;
      const uint32_t met_from = round % 5 == 0 && rank.rank == 1 ? kCalls + 1 : 1 + random() % 9;
      std::unique_ptr<Takeover> takeover = rank.begin_when(2 * round + 1, [&](bool wants_part) {
        return Takeover::Joining{has_met || call >= met_from ? &rank.job : nullptr, wants_part};
      });
      for (; call < kCalls && !takeover->take_next(); ++call) {
        if (call % 8 == 0) rank.meet();
        if (random() % 4 == 0) std::this_thread::yield();
      }
      firsts[rank.rank][round] = call;
      const bool has_taken_over = takeover->leave();
      EXPECT_EQ(has_taken_over, call < kCalls) << "round " << round;
      for (; call < kCalls; ++call)
        if (call % 8 == 0) rank.meet();
      if (round % 5 == 0 && rank.rank == 1) {
        EXPECT_FALSE(takeover->may_go()) << "others wait for this rank's word";
      }
      has_met = true;
      if (has_taken_over) close(takeover->take());
      end(rank, std::move(takeover));
    }
  });
  for (const auto& one : firsts) EXPECT_EQ(one, firsts[0]);
  for (uint32_t round = 0; round < kRounds; ++round) EXPECT_EQ(firsts[0][round] == kCalls, round % 5 == 0);
}

TEST_F(TakingOver, WaitsForNobody) {
  run([&](const Rank& rank) {
    std::unique_ptr<Takeover> takeover = rank.begin(1);
    // Rank 0 has not started.
    const bool is_late = rank.rank == 0;
    for (int call = 0; call < 100 && !is_late; ++call) EXPECT_FALSE(takeover->take_next());
    rank.meet();
    EXPECT_FALSE(is_late && takeover->take_next());
    EXPECT_FALSE(is_late && takeover->leave());
    EXPECT_FALSE(is_late && takeover->may_go()) << "the others may still look";
    rank.meet();
    EXPECT_FALSE(takeover->leave());
    end(rank, std::move(takeover));
  });
}

TEST_F(TakingOver, DoesNotComeWhereARankHasNoRoom) {
  run([&](const Rank& rank) {
    std::vector<void*> taken;
    if (rank.rank == 1)
      for (void* memory; (memory = rank.context.region().allocate(size_t{64} << 10)) != nullptr;)
        taken.push_back(memory);
    std::unique_ptr<Takeover> takeover = rank.begin(1);
    for (int call = 0; call < 20; ++call) {
      EXPECT_FALSE(takeover->take_next());
      rank.meet();
    }
    EXPECT_FALSE(takeover->settle());
    end(rank, std::move(takeover));
    for (void* memory : taken) rank.context.region().free(memory);
  });
}

// One rank can't take part; or none, as their settings ask for more than a look: nothing is kept of it.
TEST_F(TakingOver, LeavesNothingBehindWhereARankCannotTakePart) {
  constexpr uint64_t kNumber = 2000;
  run([&](const Rank& rank) {
    rank.meet();
    for (uint64_t number = 0; number < 2 * kNumber; ++number) {
      if (number == kNumber) {
        rank.meet();
        if (rank.rank == 0) setenv("HOCKET_CMA", "on", 1);
        rank.meet();
      }
      std::unique_ptr<Takeover> takeover = rank.begin(2 * number + 1, number >= kNumber || rank.rank != 1);
      for (int call = 0; call < 4; ++call) EXPECT_FALSE(takeover->take_next());
      EXPECT_FALSE(takeover->leave());
      while (!takeover->may_go()) std::this_thread::yield();
      if (number % 64 == 0) rank.meet();  // what is declined is told for a while
    }
    rank.meet();
    if (rank.rank == 0) unsetenv("HOCKET_CMA");
    rank.meet();
    void* const memory = rank.context.region().allocate(size_t{32} << 20);
    EXPECT_NE(memory, nullptr) << "half of what there was at the beginning";
    rank.context.region().free(memory);
  });
}

// More than there is room for at a time, and all memory is given back: none of them is used in the end.
TEST_F(TakingOver, LeavesNothingBehind) {
  constexpr uint64_t kNumber = 1500;
  run([&](const Rank& rank) {
    std::vector<std::unique_ptr<Takeover>> left;
    for (uint64_t number = 0; number < kNumber; ++number) {
      std::unique_ptr<Takeover> takeover = rank.begin(2 * number + 1);
      for (uint64_t call = 0; call < 1 + number % 3; ++call) (void)takeover->take_next();
      if (takeover->leave()) close(takeover->take());
      left.push_back(std::move(takeover));
      std::erase_if(left, [](const auto& one) { return one->may_go(); });
      if (number % 16 == 0) rank.meet();
    }
    rank.meet();
    while (!left.empty()) std::erase_if(left, [](const auto& one) { return one->may_go(); });
    rank.meet();
    using engines::shared_memory::TakeoverBoard;
    engines::shared_memory::Takeovers board(*rank.job.participants().group);
    std::vector<engines::shared_memory::TakeoverPlace*> places;
    for (uint64_t place = 0; place < TakeoverBoard::kPlaces; ++place) {
      places.push_back(board.claim(2 * (kNumber + place) + 1, kThreads, 1, "", 0));
      EXPECT_NE(places.back(), nullptr) << "place " << place << " is taken";
    }
    for (auto* place : places)
      if (place != nullptr) engines::shared_memory::Takeovers::give_back(*place);
    std::unique_ptr<Takeover> takeover = rank.begin(2 * (kNumber + TakeoverBoard::kPlaces) + 1);
    bool has_taken_over = false;
    for (int call = 0; call < 8; ++call) {
      has_taken_over = has_taken_over || takeover->take_next();
      rank.meet();
    }
    EXPECT_TRUE(has_taken_over);
    close(takeover->take());
    EXPECT_TRUE(takeover->leave());
    end(rank, std::move(takeover));
  });
}

}  // namespace
}  // namespace hocket::communicator
