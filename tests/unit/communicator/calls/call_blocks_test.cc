// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/call_blocks.h"

#include <gtest/gtest.h>

#include <array>

#include "communicator/calls/arguments.h"

namespace hocket::communicator {
namespace {

std::array<int, 2> as_two(const std::byte* copy) {
  const auto* const numbers = reinterpret_cast<const int*>(copy);
  return {numbers[0], numbers[1]};
}

TEST(CallBlocks, CopyTheInputOfEachStartFromWhereItLies) {
  std::array<int, 4> buffer = {-1, 10, -1, 20};
  const std::array<uint64_t, 2> counts = {1, 1}, displacements = {3, 1};
  Arguments arguments;
  arguments.collective = schedule::Collective::kAlltoallv;
  arguments.input = reinterpret_cast<const std::byte*>(buffer.data());
  arguments.combiner.element_bytes = sizeof(int);
  arguments.input_blocks = arguments.output_blocks = {counts.data(), displacements.data()};
  CallBlocks blocks;
  blocks.read(arguments, 2, true);
  const std::array<int, 2> first = {20, 10}, second = {40, 30};
  EXPECT_EQ(as_two(blocks.copy_input(arguments, 2)), first);
  buffer = {-1, 30, -1, 40};
  EXPECT_EQ(as_two(blocks.copy_input(arguments, 2)), second);
}

}  // namespace
}  // namespace hocket::communicator
