// SPDX-License-Identifier: BSD-3-Clause
#include "bench/bench.h"

#include <gtest/gtest.h>

#include <cstring>

#include "bench/evenness.h"

namespace hocket::bench {
namespace {

// A world of one rank that can pretend to be any.
class LoneWorld : public World {
 public:
  LoneWorld(int rank, int size) : rank_(rank), size_(size), placement_(static_cast<uint32_t>(size)) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const schedule::Nodes& placement() const override { return placement_; }
  void synchronize() override {}
  void maximum(std::span<double>) override {}
  void allgather(const void* send, void* receive, size_t bytes) override { std::memcpy(receive, send, bytes); }

 private:
  int rank_;
  int size_;
  schedule::Nodes placement_;
};

// A reduction over one rank: copies, unless told to be wrong or to refuse.
class Copying : public Variant {
 public:
  std::string name() const override { return "copying"; }
  std::string activate(Collective) override { return {}; }
  int run(const Call& call) override {
    ++calls;
    if (call.collective == Collective::kBroadcast || call.collective == Collective::kBarrier) return code;
    std::memcpy(call.output, call.input, call.count * sizeof(double));
    if (wrong && call.count > 0) static_cast<double*>(call.output)[call.count - 1] += 1;
    return code;
  }
  std::string error(int) const override { return "refused"; }
  std::string doubt() override { return doubts; }

  int code = 0;
  bool wrong = false;
  std::string doubts;
  uint64_t calls = 0;
};

struct Fixture {
  explicit Fixture(uint64_t count) : input(count), output(count) {
    buffers = {reinterpret_cast<std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data())};
    options.budget_s = 0;
    options.iterations = 50;
  }
  std::vector<double> input, output;
  Buffers buffers;
  Options options;
  LoneWorld world{0, 1};
  Copying variant;
  Variant* variants[1] = {&variant};
};

TEST(Summarize, GivesMedianAndPercentiles) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  const Summary summary = summarize(samples, 1010);
  EXPECT_DOUBLE_EQ(summary.median_us, 50);
  EXPECT_DOUBLE_EQ(summary.p10_us, 10);
  EXPECT_DOUBLE_EQ(summary.p90_us, 90);
  EXPECT_DOUBLE_EQ(summary.p99_us, 99);
  EXPECT_DOUBLE_EQ(summary.max_us, 100);
  EXPECT_EQ(summary.iterations, 1010u);
  EXPECT_DOUBLE_EQ(summarize({1, 4}, 2).median_us, 2.5);
  EXPECT_DOUBLE_EQ(summarize({}, 0).median_us, 0);
}

TEST(Measure, CountsTheCallsBehindTheNumbers) {
  for (Timing timing : {Timing::kIsolated, Timing::kBackToBack}) {
    Fixture fixture(16);
    const Cell cell{Collective::kAllreduce, 16, 128, timing};
    const auto summaries = measure(fixture.options, cell, fixture.world, fixture.buffers, fixture.variants);
    ASSERT_EQ(summaries.size(), 1u);
    EXPECT_GE(summaries[0].iterations, 50u);
    EXPECT_LE(summaries[0].iterations, fixture.variant.calls);
    EXPECT_LE(summaries[0].p10_us, summaries[0].median_us);
  }
}

TEST(Measure, EndsAtAWrongElement) {
  Fixture fixture(16);
  fixture.variant.wrong = true;
  const Cell cell{Collective::kReduce, 16, 128, Timing::kIsolated};
  try {
    static_cast<void>(measure(fixture.options, cell, fixture.world, fixture.buffers, fixture.variants));
    FAIL() << "a wrong result was measured";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("element 15"), std::string::npos) << error.what();
  }
}

TEST(Measure, LeavesOutWhatRefusesOrPassesThrough) {
  Fixture fixture(16);
  const Cell cell{Collective::kAllreduce, 16, 128, Timing::kIsolated};
  fixture.variant.doubts = "passed through";
  auto summaries = measure(fixture.options, cell, fixture.world, fixture.buffers, fixture.variants);
  EXPECT_EQ(summaries[0].iterations, 0u);
  EXPECT_EQ(summaries[0].why_not, "passed through");
  fixture.variant.code = -1;
  summaries = measure(fixture.options, cell, fixture.world, fixture.buffers, fixture.variants);
  EXPECT_EQ(summaries[0].why_not, "refused");
}

TEST(Evenness, OfOneRankThereIsNothingBetweenFirstAndLast) {
  LoneWorld world(0, 1);
  const Summary between = time_between_first_and_last(world);
  EXPECT_DOUBLE_EQ(between.max_us, 0);
  EXPECT_GT(between.iterations, 0u);
}

TEST(Check, NoticesEveryChangedByteOfABroadcast) {
  Fixture fixture(32);
  const Cell cell{Collective::kBroadcast, 256, 256, Timing::kIsolated};
  fill(fixture.options, cell, fixture.world, 0, fixture.buffers);
  EXPECT_EQ(check(fixture.options, cell, fixture.world, 0, fixture.buffers), "");
  for (size_t i = 0; i < 256; ++i) {
    fixture.buffers.output[i] ^= std::byte{1};
    EXPECT_NE(check(fixture.options, cell, fixture.world, 0, fixture.buffers), "") << i;
    fixture.buffers.output[i] ^= std::byte{1};
  }
  // What another root would have sent is wrong, too.
  EXPECT_NE(check(fixture.options, cell, fixture.world, 1, fixture.buffers), "");
}

TEST(Check, ExpectsTheReductionOfAllRanks) {
  for (Operation operation : {Operation::kSum, Operation::kMin, Operation::kMax}) {
    Fixture fixture(300);
    fixture.options.operation = operation;
    const Cell cell{Collective::kAllreduce, 300, 2400, Timing::kIsolated};
    std::vector<double> result;
    for (int rank = 0; rank < 5; ++rank) {
      fill(fixture.options, cell, LoneWorld(rank, 5), 0, fixture.buffers);
      if (rank == 0) {
        result = fixture.input;
        continue;
      }
      for (size_t i = 0; i < 300; ++i) {
        const double other = fixture.input[i];
        if (operation == Operation::kSum) result[i] += other;
        if (operation == Operation::kMin) result[i] = std::min(result[i], other);
        if (operation == Operation::kMax) result[i] = std::max(result[i], other);
      }
    }
    fixture.output = result;
    fixture.buffers.output = reinterpret_cast<std::byte*>(fixture.output.data());
    EXPECT_EQ(check(fixture.options, cell, LoneWorld(2, 5), 0, fixture.buffers), "");
    // As if the last rank were missing; its elements are the largest, so that the minimum can't tell.
    if (operation != Operation::kMin) {
      EXPECT_NE(check(fixture.options, cell, LoneWorld(2, 6), 0, fixture.buffers), "");
    }
  }
}

TEST(Check, TakesNoOperationForASumThatIsNone) {
  Fixture fixture(300);
  fixture.options.operation = Operation::kBitOr;
  const Cell cell{Collective::kAllreduce, 300, 2400, Timing::kIsolated};
  for (size_t i = 0; i < 300; ++i) fixture.output[i] = 1 + static_cast<double>(i % 251);
  EXPECT_NE(check(fixture.options, cell, LoneWorld(0, 1), 0, fixture.buffers), "") << "which is one rank's sum";
}

// All ranks' buffers as fill() leaves them, and what the collective makes of them, done by hand.
class ByHand {
 public:
  ByHand(Collective collective, int root, int ranks, uint64_t count)
      : root_(root), ranks_(ranks), cell_(cell_of(options_, collective, count * 8, Timing::kIsolated)) {
    for (int rank = 0; rank < ranks; ++rank) {
      inputs_.emplace_back(static_cast<size_t>(ranks) * cell_.bytes);
      outputs_.emplace_back(static_cast<size_t>(ranks) * cell_.bytes);
    }
    for (int rank = 0; rank < ranks; ++rank) fill(options_, cell_, LoneWorld(rank, ranks), root, buffers(rank));
    for (int rank = 0; rank < ranks; ++rank) carry_out(rank);
  }

  std::string checked(int rank) { return check(options_, cell_, LoneWorld(rank, ranks_), root_, buffers(rank)); }
  std::byte& result(int rank, size_t at) { return outputs_[rank][at]; }
  size_t result_bytes(int rank) const {
    const bool has = schedule::has_output(cell_.collective, rank == root_);
    if (cell_.collective == Collective::kExscan && rank == 0) return 0;
    return has ? schedule::output_blocks(cell_.collective, static_cast<uint32_t>(ranks_)) * cell_.bytes : 0;
  }

 private:
  Buffers buffers(int rank) { return {inputs_[rank].data(), outputs_[rank].data()}; }
  void copy(int from, int from_block, int to, int to_block) {
    std::memcpy(&outputs_[to][to_block * cell_.bytes], &inputs_[from][from_block * cell_.bytes], cell_.bytes);
  }
  // The sum of what ranks 0 .. last have in a block.
  void sum(int rank, int last, int block) {
    auto* output = reinterpret_cast<double*>(outputs_[rank].data());
    for (uint64_t i = 0; i < cell_.count; ++i) {
      output[i] = 0;
      for (int from = 0; from <= last; ++from)
        output[i] += reinterpret_cast<double*>(&inputs_[from][block * cell_.bytes])[i];
    }
  }

  void carry_out(int rank) {
    switch (schedule::base_of(cell_.collective)) {
      case Collective::kBroadcast:
        outputs_[rank] = outputs_[root_];
        break;
      case Collective::kGather:
      case Collective::kAllgather:
        for (int from = 0; from < ranks_; ++from) copy(from, 0, rank, from);
        break;
      case Collective::kScatter:
        copy(root_, rank, rank, 0);
        break;
      case Collective::kAlltoall:
        for (int from = 0; from < ranks_; ++from) copy(from, rank, rank, from);
        break;
      case Collective::kReduceScatterBlock:
        sum(rank, ranks_ - 1, rank);
        break;
      case Collective::kScan:
        sum(rank, rank, 0);
        break;
      case Collective::kExscan:
        sum(rank, rank - 1, 0);
        break;
      default:
        sum(rank, ranks_ - 1, 0);
    }
  }

  Options options_;
  int root_;
  int ranks_;
  Cell cell_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::vector<std::byte>> outputs_;
};

TEST(Check, AcceptsWhatEveryCollectiveMakesOfItsInputs) {
  for (int i = 1; i < schedule::kCollectives; ++i)
    for (int root : {0, 2}) {
      ByHand calls(static_cast<Collective>(i), root, 4, 40);
      for (int rank = 0; rank < 4; ++rank)
        EXPECT_EQ(calls.checked(rank), "") << name(static_cast<Collective>(i)) << ", rank " << rank;
    }
}

TEST(Check, NoticesEveryChangedByteOfEveryCollective) {
  for (int i = 1; i < schedule::kCollectives; ++i) {
    ByHand calls(static_cast<Collective>(i), 1, 3, 5);
    for (int rank = 0; rank < 3; ++rank)
      for (size_t at = 0; at < calls.result_bytes(rank); ++at) {
        calls.result(rank, at) ^= std::byte{0x40};
        EXPECT_NE(calls.checked(rank), "") << name(static_cast<Collective>(i)) << ", rank " << rank << ", byte " << at;
        calls.result(rank, at) ^= std::byte{0x40};
      }
  }
}

}  // namespace
}  // namespace hocket::bench
