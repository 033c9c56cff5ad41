// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/tags.h"

#include <gtest/gtest.h>

#include <set>

namespace hocket::communicator {
namespace {

class WireOfTags final : public engines::wire::Wire {
 public:
  WireOfTags(uint32_t rank, uint32_t size, uint32_t tags) : rank_(rank), size_(size), tags_(tags) {}
  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return size_; }
  uint32_t tags() const override { return tags_; }
  Status post_send(uint32_t, uint32_t, const void*, size_t, engines::wire::Ticket&) override { return none(); }
  Status post_receive(uint32_t, uint32_t, void*, size_t, engines::wire::Ticket&) override { return none(); }
  Status test(size_t, engines::wire::Ticket*, size_t*) override { return none(); }
  void cancel(engines::wire::Ticket) override {}
  Status send_notice(uint32_t, uint32_t) override { return none(); }
  Result<bool> take_notice(uint32_t, uint32_t&) override { return false; }
  Result<bool> has_unexpected(uint32_t, uint32_t) override { return false; }

 private:
  static Status none() { return {Code::kSystem, "no messages here"}; }
  uint32_t rank_;
  uint32_t size_;
  uint32_t tags_;
};

TEST(Tags, OfDifferentProcessesNeverMeet) {
  std::set<uint32_t> tags;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    Tags of_rank(WireOfTags(rank, 3, 60));
    for (int time = 0; time < 4; ++time) {
      const std::optional<uint32_t> first = of_rank.take();
      ASSERT_TRUE(first) << rank << " " << time;
      for (uint32_t tag = *first; tag < *first + kLeastTags; ++tag) {
        EXPECT_LT(tag, 60u);
        EXPECT_TRUE(tags.insert(tag).second) << tag;
      }
    }
    EXPECT_FALSE(of_rank.take());
  }
}

TEST(Tags, AreThereAgainWhenTheyHaveBeenGivenBack) {
  Tags tags(WireOfTags(1, 2, 20));
  const uint32_t one = *tags.take();
  const uint32_t other = *tags.take();
  EXPECT_FALSE(tags.take());
  tags.give_back(one);
  EXPECT_EQ(tags.take(), one);
  tags.give_back(other);
  EXPECT_EQ(tags.take(), other);
}

// A thread of a peer may still be about to leave the communicator that had them.
TEST(Tags, AreNotUsedAgainAtOnce) {
  Tags tags(WireOfTags(0, 2, 100));
  std::set<uint32_t> seen;
  for (int time = 0; time < 10; ++time) {
    const uint32_t tag = *tags.take();
    EXPECT_TRUE(seen.insert(tag).second) << tag;
    tags.give_back(tag);
  }
  EXPECT_TRUE(seen.contains(*tags.take()));
}

TEST(Tags, AreAsManyAsTheWireHas) {
  Tags tags(WireOfTags(0, 1, 5 * 5000));
  std::set<uint32_t> seen;
  for (int time = 0; time < 5000; ++time) seen.insert(tags.take().value());
  EXPECT_EQ(seen.size(), 5000u);
  EXPECT_FALSE(tags.take());
}

TEST(Tags, AreSeveralForATrackWhereTheWireHasEnough) {
  EXPECT_EQ(Tags(WireOfTags(0, 2, 32767)).marks(), 1u);
  EXPECT_EQ(Tags(WireOfTags(0, 128, 1u << 29)).marks(), 128u);
  EXPECT_EQ(Tags(WireOfTags(0, 2, 1u << 31)).marks(), 256u);
  std::set<uint32_t> tags;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Tags of_rank(WireOfTags(rank, 2, 1u << 20));
    ASSERT_GT(of_rank.marks(), 1u);
    for (int time = 0; time < 3; ++time) {
      const uint32_t first = of_rank.take().value();
      EXPECT_GE(of_rank.reports(first), first + engines::shared_memory::kLanes * of_rank.marks());
      for (uint32_t tag = first; tag <= of_rank.reports(first); ++tag) EXPECT_TRUE(tags.insert(tag).second) << tag;
    }
  }
  EXPECT_LT(*tags.rbegin(), 1u << 20);
}

TEST(Tags, MayBeTooFewForOneCommunicator) {
  Tags tags(WireOfTags(0, 32, 100));
  EXPECT_FALSE(tags.take());
}

}  // namespace
}  // namespace hocket::communicator
