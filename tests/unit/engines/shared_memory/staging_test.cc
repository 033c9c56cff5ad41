// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/staging.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace hocket::engines::shared_memory {
namespace {

constexpr uint64_t kBytes = 4096;

class Staging : public testing::Test {
 protected:
  void SetUp() override {
    auto region = platform::SharedRegion::create(size_t{16} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    region_ = region.take();
  }
  std::shared_ptr<platform::SharedRegion> region_;
};

TEST_F(Staging, GrowsToItsLimitAndNoFurther) {
  ASSERT_TRUE(region_->promise(2 * kBytes));
  StagingPool pool(*region_, kBytes, 2, 3);
  std::set<StagingBuffer*> taken;
  const auto is_free = [](const StagingBuffer&) { return false; };
  for (int i = 0; i < 3; ++i) {
    StagingBuffer* buffer = pool.take(is_free);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(region_->offset_of(buffer->memory), buffer->offset);
    buffer->holder = 1;
    EXPECT_TRUE(taken.insert(buffer).second) << "somebody holds it";
  }
  EXPECT_EQ(pool.take(is_free), nullptr);
}

TEST_F(Staging, GivesBuffersAgainThatAreFree) {
  ASSERT_TRUE(region_->promise(kBytes));
  StagingPool pool(*region_, kBytes, 1, 2);
  const auto hold = [&](uint64_t holder, uint64_t done) {
    StagingBuffer* buffer = pool.take([done](const StagingBuffer& candidate) { return candidate.holder <= done; });
    if (buffer != nullptr) buffer->holder = holder;
    return buffer;
  };
  StagingBuffer* const first = hold(1, 0);
  StagingBuffer* const second = hold(2, 0);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(hold(3, 0), nullptr);
  EXPECT_EQ(hold(3, 1), first);
  EXPECT_EQ(hold(4, 2), second);
}

TEST_F(Staging, TakesNothingBeforeItIsNeeded) {
  void* const before = region_->allocate(kBytes, kBytes);
  ASSERT_TRUE(region_->promise(2 * kBytes));
  const StagingPool pool(*region_, kBytes, 2, 3);
  void* const after = region_->allocate(kBytes, kBytes);
  EXPECT_EQ(region_->offset_of(after), region_->offset_of(before) + kBytes) << "the next block is no longer free";
}

// What was promised is there, but in pieces.
TEST_F(Staging, IsShortOfMemoryWhereNoBufferFitsIntoIt) {
  constexpr size_t kPiece = size_t{1} << 20;
  ASSERT_TRUE(region_->promise(4 * kPiece));
  StagingPool pool(*region_, 2 * kPiece, 2, 3);
  EXPECT_FALSE(pool.is_short_of_memory()) << "it has not been asked yet";
  std::vector<void*> pieces;
  while (void* piece = region_->allocate(kPiece)) pieces.push_back(piece);
  ASSERT_GE(pieces.size(), 8u);
  for (size_t i = 0; i < pieces.size(); i += 2) EXPECT_TRUE(region_->free(pieces[i]));
  while (region_->allocate(2 * kPiece) != nullptr) {
  }
  EXPECT_EQ(pool.take([](const StagingBuffer&) { return true; }), nullptr);
  EXPECT_TRUE(pool.is_short_of_memory());
}

}  // namespace
}  // namespace hocket::engines::shared_memory
