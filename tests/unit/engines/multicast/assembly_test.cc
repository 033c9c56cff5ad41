// SPDX-License-Identifier: BSD-3-Clause
// Messages put together out of fragments, and fragments that wait for theirs.
#include "engines/multicast/assembly.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "engines/multicast/unexpected_queue.h"

namespace hocket::engines::multicast {
namespace {

constexpr uint32_t kFragment = 16;
using Bytes = std::vector<std::byte>;

Bytes content_of(size_t bytes) {
  Bytes content(bytes);
  for (size_t i = 0; i < bytes; ++i) content[i] = static_cast<std::byte>(i * 5 + 1);
  return content;
}

std::span<const std::byte> fragment_of(const Bytes& content, uint64_t offset) {
  return std::span(content).subspan(offset, std::min<size_t>(kFragment, content.size() - offset));
}

TEST(Assembly, PutsFragmentsOfAnyOrderTogetherEachOnce) {
  std::mt19937 random(7);
  Assembly assembly;
  for (const size_t bytes : {1u, 15u, 16u, 17u, 31u, 32u, 1000u, 5000u, 40u}) {
    const Bytes content = content_of(bytes);
    Bytes into(bytes);
    assembly.reset(into, kFragment);
    EXPECT_EQ(assembly.fragments(), (bytes + kFragment - 1) / kFragment);
    std::vector<uint64_t> offsets(assembly.fragments());
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * kFragment;
    std::shuffle(offsets.begin(), offsets.end(), random);
    for (const uint64_t offset : offsets) {
      EXPECT_FALSE(assembly.is_complete());
      EXPECT_TRUE(assembly.take(offset, fragment_of(content, offset)));
      EXPECT_FALSE(assembly.take(offset, fragment_of(content, offset)));
    }
    EXPECT_TRUE(assembly.is_complete());
    EXPECT_EQ(into, content);
  }
}

TEST(Assembly, AMessageOfNoBytesIsOneFragment) {
  Assembly assembly;
  assembly.reset({}, kFragment);
  EXPECT_FALSE(assembly.is_complete());
  EXPECT_TRUE(assembly.take(0, {}));
  EXPECT_TRUE(assembly.is_complete());
}

TEST(Assembly, WritesNothingButAFragmentsOwnPlace) {
  const Bytes content = content_of(100);
  Bytes memory(60, std::byte{0xee});
  Assembly assembly;
  assembly.reset(std::span(memory).first(40), kFragment);
  const auto fragment = [&](size_t bytes) { return std::span(content).first(bytes); };
  EXPECT_FALSE(assembly.take(8, fragment(16)));   // between two
  EXPECT_FALSE(assembly.take(0, fragment(15)));   // too short
  EXPECT_FALSE(assembly.take(0, fragment(17)));   // too long
  EXPECT_FALSE(assembly.take(32, fragment(16)));  // the last is shorter
  EXPECT_FALSE(assembly.take(48, fragment(8)));   // beyond
  EXPECT_FALSE(assembly.take(1ull << 40, fragment(16)));
  EXPECT_EQ(assembly.missing(), 3u);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{0xee}), 60);
  EXPECT_TRUE(assembly.take(32, fragment(8)));
  EXPECT_EQ(std::count(memory.begin() + 40, memory.end(), std::byte{0xee}), 20);
}

TEST(UnexpectedQueue, KeepsFragmentsUntilTheirMessageIsAwaited) {
  UnexpectedQueue queue(1024, kFragment);
  const Bytes content = content_of(40);
  const UnexpectedQueue::Name name{1, 2, 3};
  EXPECT_EQ(queue.keep(name, 40, 32, fragment_of(content, 32)), UnexpectedQueue::Verdict::kKept);
  EXPECT_EQ(queue.keep(name, 40, 0, fragment_of(content, 0)), UnexpectedQueue::Verdict::kKept);
  EXPECT_EQ(queue.keep(name, 40, 0, fragment_of(content, 0)), UnexpectedQueue::Verdict::kRepeated);
  for (const UnexpectedQueue::Name& other :
       {UnexpectedQueue::Name{0, 2, 3}, UnexpectedQueue::Name{1, 1, 3}, UnexpectedQueue::Name{1, 2, 4}})
    EXPECT_EQ(queue.keep(other, 40, 0, fragment_of(content, 16)), UnexpectedQueue::Verdict::kKept);
  Bytes into(40);
  Assembly assembly;
  assembly.reset(into, kFragment);
  EXPECT_EQ(queue.move_to(name, assembly), 2u);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(assembly.missing(), 1u);
  EXPECT_TRUE(assembly.take(16, fragment_of(content, 16)));
  EXPECT_EQ(into, content);
}

TEST(UnexpectedQueue, DropsFragmentsOfAnotherLengthThanIsAwaited) {
  UnexpectedQueue queue(1024, kFragment);
  const Bytes content = content_of(40);
  EXPECT_EQ(queue.keep({0, 0, 0}, 48, 0, fragment_of(content, 0)), UnexpectedQueue::Verdict::kKept);
  Bytes into(40);
  Assembly assembly;
  assembly.reset(into, kFragment);
  EXPECT_EQ(queue.move_to({0, 0, 0}, assembly), 0u);
  EXPECT_EQ(assembly.missing(), 3u);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(UnexpectedQueue, HasRoomForSoMuchAndNoMore) {
  UnexpectedQueue queue(4 * kFragment, kFragment);
  const Bytes content = content_of(16);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t number = 0; number < 4; ++number)
      EXPECT_EQ(queue.keep({0, 0, number}, 16, 0, content), UnexpectedQueue::Verdict::kKept);
    EXPECT_EQ(queue.keep({0, 0, 4}, 16, 0, content), UnexpectedQueue::Verdict::kNoRoom);
    for (uint64_t number = 0; number < 4; ++number) {
      Bytes into(16);
      Assembly assembly;
      assembly.reset(into, kFragment);
      EXPECT_EQ(queue.move_to({0, 0, number}, assembly), 1u);
      EXPECT_EQ(into, content);
    }
  }
  EXPECT_EQ(queue.keep({0, 0, 0}, 100, 0, content_of(17)), UnexpectedQueue::Verdict::kNoRoom);
}

}  // namespace
}  // namespace hocket::engines::multicast
