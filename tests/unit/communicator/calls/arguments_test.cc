// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/arguments.h"

#include <gtest/gtest.h>

namespace hocket::communicator {
namespace {

using schedule::Collective;

constexpr uint64_t kCounts[] = {2, 3, 4};
constexpr uint64_t kDisplacements[] = {10, 0, 5};

class InPlace : public testing::Test {
 protected:
  Arguments of(Collective collective, uint64_t count = 3) {
    Arguments arguments;
    arguments.collective = collective;
    arguments.count = count;
    arguments.combiner.element_bytes = 4;
    return arguments;
  }
  std::byte memory_[64] = {};
};

TEST_F(InPlace, ARanksOwnBlockLiesInWhatItGathers) {
  for (const Collective collective : {Collective::kGather, Collective::kAllgather}) {
    Arguments arguments = of(collective);
    arguments.output = memory_;
    set_in_place(arguments, 2);
    EXPECT_TRUE(arguments.in_place);
    EXPECT_EQ(arguments.input, memory_ + 2 * 3 * 4);
    EXPECT_TRUE(runs_in_place(arguments));
  }
}

TEST_F(InPlace, BlocksThatDifferLieWhereTheirDisplacementsSayOrDensely) {
  for (const Collective collective : {Collective::kGatherv, Collective::kAllgatherv}) {
    Arguments arguments = of(collective);
    arguments.output = memory_;
    arguments.output_blocks = {kCounts, kDisplacements};
    set_in_place(arguments, 2);
    EXPECT_EQ(arguments.input, memory_ + 5 * 4);
    arguments.output_blocks = {kCounts, nullptr};
    set_in_place(arguments, 2);
    EXPECT_EQ(arguments.input, memory_ + (2 + 3) * 4);
  }
}

TEST_F(InPlace, ARootKeepsItsBlockOfWhatItScatters) {
  Arguments arguments = of(Collective::kScatter);
  arguments.input = memory_;
  set_in_place(arguments, 1);
  EXPECT_EQ(arguments.output, memory_ + 3 * 4);
  arguments = of(Collective::kScatterv);
  arguments.input = memory_;
  arguments.input_blocks = {kCounts, kDisplacements};
  set_in_place(arguments, 0);
  EXPECT_EQ(arguments.output, memory_ + 10 * 4);
}

TEST_F(InPlace, WhatIsCombinedLiesWhereTheResultGoes) {
  for (const Collective collective : {Collective::kReduce, Collective::kAllreduce, Collective::kScan}) {
    Arguments arguments = of(collective);
    arguments.output = memory_;
    set_in_place(arguments, 2);
    EXPECT_EQ(arguments.input, memory_);
    EXPECT_TRUE(runs_in_place(arguments));
  }
}

// Peers still want what the output would overwrite.
TEST_F(InPlace, AnExchangeCopiesItsInputFirst) {
  Arguments arguments = of(Collective::kAlltoallv);
  arguments.output = memory_;
  arguments.output_blocks = {kCounts, kDisplacements};
  set_in_place(arguments, 1);
  EXPECT_EQ(arguments.input, memory_);
  EXPECT_EQ(arguments.input_blocks.counts, kCounts);
  EXPECT_EQ(arguments.input_blocks.displacements, kDisplacements);
  EXPECT_TRUE(arguments.in_place);
  EXPECT_FALSE(runs_in_place(arguments));
}

}  // namespace
}  // namespace hocket::communicator
