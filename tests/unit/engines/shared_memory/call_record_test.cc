// SPDX-License-Identifier: BSD-3-Clause
#include "engines/shared_memory/call_record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "engines/shared_memory/layout.h"

namespace hocket::engines::shared_memory {
namespace {

TEST(CallRecord, IsOfTheRoundThatItWasWrittenIn) {
  const auto memory = std::make_unique<CallRecord>();  // zeros, as memory is that nobody has written to
  CallSignature found;
  EXPECT_FALSE(memory->read(0, found)) << "nobody has written it";
  memory->write(0, {7, 8, 0}, 9);
  ASSERT_TRUE(memory->read(0, found));
  EXPECT_EQ(found, (CallSignature{7, 8, 9}));
  EXPECT_FALSE(memory->read(1, found));
  memory->write(1, {1, 2, 0}, 3);
  EXPECT_FALSE(memory->read(0, found));
  ASSERT_TRUE(memory->read(1, found));
  EXPECT_EQ(found, (CallSignature{1, 2, 3}));
}

TEST(CallRecord, RemembersAsManyCallsAsThereAreSets) {
  EXPECT_EQ(first_remembered(1), 1u);
  EXPECT_EQ(first_remembered(kSets), 1u);
  EXPECT_EQ(first_remembered(kSets + 1), 2u);
}

TEST(CallHistory, IsTheSameAfterTheSameCallsOnly) {
  CallHistory one, other;
  EXPECT_EQ(one.unit(), 1u);
  EXPECT_EQ(one.mark(), 0u);
  for (const uint64_t bytes : {8, 16, 8}) {
    const uint64_t hash = hash_of_shape({.what = 3, .bytes = bytes});
    one.add(hash, 5);
    other.add(hash, 5);
    EXPECT_EQ(one.mark(), other.mark());
    EXPECT_EQ(one.unit(), other.unit());
    EXPECT_EQ(one.short_mark(), other.short_mark());
  }
  one.add(hash_of_shape({.what = 3}), 5);
  other.add(hash_of_shape({.what = 3}), 6);
  EXPECT_NE(one.mark(), other.mark());
  for (int call = 0; call < 3; ++call) {
    one.add(hash_of_shape({.what = 1}), 0);
    other.add(hash_of_shape({.what = 1}), 0);
    EXPECT_NE(one.mark(), other.mark()) << "what was before is not forgotten";
    EXPECT_NE(one.unit(), other.unit());
  }
}

TEST(CallHistory, MarksLeaveRoomForWhatTheyMark) {
  CallHistory history;
  for (uint64_t call = 1; call <= 100; ++call) {
    history.add(hash_of_shape({.what = call}), call);
    EXPECT_EQ(history.mark() & ~kMarkBits, 0u);
    EXPECT_EQ(history.mark() & kForeign, 0u);
    EXPECT_EQ(history.unit() & 0xffffffffu, 1u);
    EXPECT_LT(history.short_mark(), 1u << 16);
  }
  EXPECT_EQ(kInline & kMarkBits, 0u);
}

TEST(MailLine, SaysHowLongAnInlineFragmentIs) {
  for (uint64_t bytes = 0; bytes <= kInlineBytes; ++bytes) {
    for (const bool is_whole : {true, false}) {
      const uint64_t location = inline_of(bytes, is_whole);
      EXPECT_TRUE(is_inline_mail(location));
      EXPECT_EQ(inline_bytes(location), bytes);
      EXPECT_EQ((location & kPartOfMessage) == 0, is_whole);
      EXPECT_EQ(location & kMarkBits, 0u);
    }
  }
  EXPECT_FALSE(is_inline_mail(uint64_t{1} << 40));
}

}  // namespace
}  // namespace hocket::engines::shared_memory
