// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/notices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace hocket::engines::shared_memory {
namespace {

class NoticesOfTwo : public testing::Test {
 protected:
  void SetUp() override {
    auto region = platform::SharedRegion::create(size_t{4} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    std::vector<Member> members;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      void* block = region.value()->allocate(RankBlock::bytes(2) + sizeof(NoticeBoard));
      ASSERT_NE(block, nullptr);
      members.push_back({.block = static_cast<RankBlock*>(block), .window = {}, .name = rank});
    }
    for (uint32_t rank = 0; rank < 2; ++rank)
      groups_.push_back(std::make_unique<NodeGroup>(rank, members, region.value(), false));
  }
  Notices of(uint32_t rank) { return Notices(*groups_[rank]); }
  // As rank 1 sees it; "?": not there.
  std::string read(uint64_t number, size_t bytes) {
    std::string text(bytes, '?');
    return of(1).read(0, number, text.data(), bytes) ? text : "?";
  }

 private:
  std::vector<std::unique_ptr<NodeGroup>> groups_;
};

TEST_F(NoticesOfTwo, AreReadUnderTheirNumber) {
  EXPECT_EQ(read(7, 3), "?");
  of(0).leave(7, "abc", 3);
  of(0).leave(8, "de", 2);
  EXPECT_EQ(read(7, 3), "abc");
  EXPECT_EQ(read(8, 2), "de");
  EXPECT_EQ(read(9, 2), "?");
  std::string own(3, '?');
  EXPECT_TRUE(of(0).read(0, 7, own.data(), 3)) << "who left it reads it, too";
  EXPECT_FALSE(of(0).read(1, 7, own.data(), 3)) << "the other has left none";
}

TEST_F(NoticesOfTwo, AreOverwrittenByTheFourthAfterThem) {
  for (uint64_t number = 1; number <= kNotices; ++number) of(0).leave(number, "x", 1);
  EXPECT_EQ(read(1, 1), "x");
  of(0).leave(kNotices + 1, "y", 1);
  EXPECT_EQ(read(1, 1), "?");
  EXPECT_EQ(read(2, 1), "x");
  EXPECT_EQ(read(kNotices + 1, 1), "y");
}

TEST_F(NoticesOfTwo, EndInAsManyZerosAsWereLeft) {
  std::string text(kNoticeBytes, 'z');
  of(0).leave(1, text.data(), text.size());
  EXPECT_EQ(read(1, kNoticeBytes), text);
  for (uint64_t number = 2; number <= kNotices; ++number) of(0).leave(number, "", 0);
  std::fill(text.begin() + 5, text.end(), '\0');
  of(0).leave(kNotices + 1, text.data(), text.size());  // in place of the first
  EXPECT_EQ(read(kNotices + 1, kNoticeBytes), text);
  EXPECT_EQ(read(2, 4), std::string(4, '\0'));
}

// As ranks do: no rank leaves a further one before the other has read the last.
TEST_F(NoticesOfTwo, AreExchangedBetweenThreads) {
  constexpr uint64_t kRounds = 20'000;
  const auto take_part = [&](uint32_t rank) {
    Notices notices = of(rank);
    for (uint64_t round = 1; round <= kRounds; ++round) {
      uint64_t mine[40] = {round, rank}, other[40] = {};
      notices.leave(round, mine, sizeof mine);
      while (!notices.read(1 - rank, round, other, sizeof other)) std::this_thread::yield();
      if (other[0] != round || other[1] != 1 - rank) return false;
    }
    return true;
  };
  bool first = false, second = false;
  std::thread thread([&] { first = take_part(0); });
  second = take_part(1);
  thread.join();
  EXPECT_TRUE(first && second);
}

}  // namespace
}  // namespace hocket::engines::shared_memory
