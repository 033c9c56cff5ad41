// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/takeovers.h"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hocket::engines::shared_memory {
namespace {

class TakeoversOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    auto region = platform::SharedRegion::create(size_t{4} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    std::vector<Member> members;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      void* block = region.value()->allocate(RankBlock::bytes(2));
      ASSERT_NE(block, nullptr);
      members.push_back({.block = static_cast<RankBlock*>(block),
                         .window = {region.value()->base(), region.value()->limit()},
                         .name = rank});
    }
    for (uint32_t rank = 0; rank < 2; ++rank)
      groups_.push_back(std::make_unique<NodeGroup>(rank, members, region.value(), false));
  }
  Takeovers of(uint32_t rank) { return Takeovers(*groups_[rank]); }

 private:
  std::vector<std::unique_ptr<NodeGroup>> groups_;
};

TEST_F(TakeoversOfTwo, AreFoundByTheirNumber) {
  EXPECT_EQ(of(1).find(0, 7), nullptr);
  const std::string text("a\0b\0\0", 5);
  TakeoverPlace* const place = of(0).claim(7, 2, 1, text.data(), text.size());
  ASSERT_NE(place, nullptr);
  ASSERT_EQ(of(1).find(0, 7), place);
  EXPECT_EQ(of(1).find(1, 7), nullptr) << "the other has left none";
  EXPECT_EQ(of(1).find(0, 9), nullptr);
  std::string read(8, '?');
  Takeovers::read(*place, read.data(), read.size());
  EXPECT_EQ(read, std::string("a\0b\0\0\0\0\0", 8));
}

TEST_F(TakeoversOfTwo, HaveRoomAgainWhenAllRanksAreDone) {
  std::vector<TakeoverPlace*> places;
  uint64_t number = 1;
  for (; TakeoverPlace* place = of(0).claim(number, 2, 1, "", 0); number += 2) places.push_back(place);
  ASSERT_GE(places.size(), 8U);
  ASSERT_LE(places.size(), size_t{TakeoverBoard::kPlaces});
  TakeoverPlace& one = *places.back();
  EXPECT_FALSE(Takeovers::is_done(one));
  one.done.fetch_add(1);
  EXPECT_FALSE(Takeovers::is_done(one));
  one.done.fetch_add(1);
  ASSERT_TRUE(Takeovers::is_done(one));
  Takeovers::give_back(one);
  const uint64_t next = number - 2 + 2 * TakeoverBoard::kPlaces;  // goes where that one was
  TakeoverPlace* const again = of(0).claim(next, 2, 1, "", 0);
  ASSERT_EQ(again, &one);
  EXPECT_EQ(again->done.load(), 0U);
  EXPECT_TRUE(again->promise.raise()) << "the one before is forgotten";
  EXPECT_EQ(of(1).find(0, number - 2), nullptr);
}

TEST_F(TakeoversOfTwo, RefuseWhatIsTooLong) {
  const std::string text(TakeoverPlace::kTextBytes + 1, 'x');
  EXPECT_EQ(of(0).claim(1, 2, 1, text.data(), text.size()), nullptr);
  EXPECT_NE(of(0).claim(1, 2, 1, text.data(), text.size() - 1), nullptr);
}

TEST_F(TakeoversOfTwo, AreDeclinedByTheirNumber) {
  EXPECT_FALSE(of(1).has_declined(0, 5));
  of(0).decline(5);
  EXPECT_TRUE(of(1).has_declined(0, 5));
  EXPECT_FALSE(of(1).has_declined(1, 5));
  for (uint64_t number = 7; number < 7 + 2 * TakeoverBoard::kWithout; number += 2) of(0).decline(number);
  EXPECT_FALSE(of(1).has_declined(0, 5)) << "others have come in its place";
}

TEST(Promise, IsSettledOnce) {
  Promise sealed, closed;
  sealed.make(3);
  EXPECT_TRUE(sealed.raise());
  EXPECT_EQ(sealed.seal().calls, 4U);
  EXPECT_FALSE(sealed.raise());
  EXPECT_EQ(sealed.close().state, Promise::State::kSealed);
  EXPECT_EQ(sealed.close().calls, 4U);
  closed.make(1);
  EXPECT_EQ(closed.close().state, Promise::State::kClosed);
  EXPECT_FALSE(closed.raise());
  EXPECT_EQ(closed.seal().state, Promise::State::kClosed);
}

// Whoever settles promises, and whenever, all find the same, and no owner has gone on beyond it.
TEST(Promise, IsSeenAlikeByAllThreads) {
  constexpr uint32_t kRanks = 3, kRounds = 20'000;
  std::array<Promise, kRanks> promises;
  std::array<std::array<uint64_t, kRanks>, kRanks> seen{};
  std::array<uint64_t, kRanks> started{};
  std::barrier meet(kRanks);
  const auto take_part = [&](uint32_t rank) {
    for (uint32_t round = 0; round < kRounds; ++round) {
      promises[rank].make(1);
      started[rank] = 1;
      meet.arrive_and_wait();
      for (uint32_t call = 0; call < (round * 7 + rank * 5) % 11 && promises[rank].raise(); ++call) ++started[rank];
      for (uint32_t of = 0; of < kRanks; ++of) {
        const bool closes = of == rank && round % 5 == 0;
        const Promise::Settled settled = closes ? promises[of].close() : promises[of].seal();
        seen[rank][of] = settled.calls * 4 + static_cast<uint64_t>(settled.state);
      }
      meet.arrive_and_wait();
      for (uint32_t of = 0; of < kRanks; ++of) {
        ASSERT_EQ(seen[rank][of], seen[0][of]) << "round " << round;
        ASSERT_EQ(seen[0][of] / 4, started[of]) << "round " << round;
      }
      meet.arrive_and_wait();
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kRanks; ++rank) threads.emplace_back(take_part, rank);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hocket::engines::shared_memory
