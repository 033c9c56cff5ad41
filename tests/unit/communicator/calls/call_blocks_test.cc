// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/call_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "communicator/calls/arguments.h"

namespace hocket::communicator {
namespace {

using schedule::Collective;
using Numbers = std::vector<uint64_t>;

constexpr uint32_t kRanks = 3;

Numbers numbers(const uint64_t* at) { return {at, at + kRanks}; }

Arguments alltoallv(const Numbers& counts, const Numbers* displacements) {
  Arguments arguments;
  arguments.collective = Collective::kAlltoallv;
  arguments.combiner.element_bytes = 1;
  arguments.input_blocks = {counts.data(), displacements == nullptr ? nullptr : displacements->data()};
  arguments.output_blocks = arguments.input_blocks;
  return arguments;
}

TEST(CallBlocks, LieDenselyWhereNoDisplacementsAreGiven) {
  const Numbers counts = {2, 0, 5};
  CallBlocks blocks;
  blocks.read(alltoallv(counts, nullptr), kRanks, false);
  const schedule::Extents& all = blocks.part(0, ~uint64_t{0});
  EXPECT_EQ(numbers(all.input->displacements), (Numbers{0, 2, 2}));
  EXPECT_EQ(all.input->counts, counts.data()) << "the caller's, as they live long enough";
  EXPECT_EQ(blocks.longest(), 5u);
  EXPECT_EQ(blocks.total(), 7u);
}

TEST(CallBlocks, AreCopiedWhereTheCallersGoBeforeTheCallEnds) {
  Numbers counts = {2, 0, 5}, displacements = {9, 1, 2};
  CallBlocks blocks;
  blocks.read(alltoallv(counts, &displacements), kRanks, true);
  std::fill(counts.begin(), counts.end(), 77);
  std::fill(displacements.begin(), displacements.end(), 77);
  const schedule::Extents& all = blocks.part(0, ~uint64_t{0});
  EXPECT_EQ(numbers(all.output->counts), (Numbers{2, 0, 5}));
  EXPECT_EQ(numbers(all.output->displacements), (Numbers{9, 1, 2}));
}

TEST(CallBlocks, AreTakenPartByPart) {
  const Numbers counts = {2, 0, 5}, displacements = {10, 20, 30};
  CallBlocks blocks;
  blocks.read(alltoallv(counts, &displacements), kRanks, false);
  EXPECT_EQ(numbers(blocks.part(0, 3).input->counts), (Numbers{2, 0, 3}));
  const schedule::Extents& second = blocks.part(3, 3);
  EXPECT_EQ(numbers(second.input->counts), (Numbers{0, 0, 2}));
  EXPECT_EQ(numbers(second.input->displacements), (Numbers{13, 23, 33}));
  EXPECT_EQ(second.longest, 3u);
}

TEST(CallBlocks, OfOneLengthAreThereForEachBufferThatHasSeveral) {
  CallBlocks blocks;
  blocks.make_equal(Collective::kAllgather, 4, kRanks);
  const schedule::Extents& part = blocks.part(2, 8);
  EXPECT_EQ(part.input, nullptr);
  EXPECT_EQ(part.count, 2u);
  EXPECT_EQ(numbers(part.output->counts), (Numbers{2, 2, 2}));
  EXPECT_EQ(numbers(part.output->displacements), (Numbers{2, 6, 10}));
}

TEST(CallBlocks, ThatDifferLieDenselyInTheCopyOfAnInput) {
  const Numbers counts = {2, 0, 3}, displacements = {4, 0, 0};
  std::byte input[6];
  for (int i = 0; i < 6; ++i) input[i] = static_cast<std::byte>(i);
  Arguments arguments = alltoallv(counts, &displacements);
  arguments.input = input;
  CallBlocks blocks;
  blocks.read(arguments, kRanks, false);
  const std::byte* copy = blocks.copy_input(arguments, kRanks);
  const std::byte expected[] = {std::byte{4}, std::byte{5}, std::byte{0}, std::byte{1}, std::byte{2}};
  EXPECT_TRUE(std::equal(expected, expected + 5, copy));
  const schedule::Extents& all = blocks.part(0, ~uint64_t{0});
  EXPECT_EQ(numbers(all.input->displacements), (Numbers{0, 2, 2}));
  EXPECT_EQ(numbers(all.output->displacements), displacements) << "the output stays where the caller has it";
}

TEST(CallBlocks, CopyTheInputOfEachStartFromWhereItLies) {
  const Numbers counts = {1, 1, 1}, displacements = {3, 1, 0};
  std::byte input[] = {std::byte{10}, std::byte{11}, std::byte{12}, std::byte{13}};
  Arguments arguments = alltoallv(counts, &displacements);
  arguments.input = input;
  CallBlocks blocks;
  blocks.read(arguments, kRanks, true);
  const std::byte first[] = {std::byte{13}, std::byte{11}, std::byte{10}};
  EXPECT_TRUE(std::equal(first, first + 3, blocks.copy_input(arguments, kRanks)));
  input[3] = std::byte{23};
  input[1] = std::byte{21};
  const std::byte second[] = {std::byte{23}, std::byte{21}, std::byte{10}};
  EXPECT_TRUE(std::equal(second, second + 3, blocks.copy_input(arguments, kRanks)));
}

}  // namespace
}  // namespace hocket::communicator
