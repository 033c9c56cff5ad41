// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a group in one thread: their memory is one region, and each has a lane and the calls that the test gives
// it. Elements are bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engines/executor/execution.h"
#include "engines/shared_memory/memory_transport.h"

namespace hocket::engines::shared_memory {

// From the input or to the output, whichever the kind has.
inline Instruction step_of(schedule::StepKind kind, uint32_t peer, uint64_t bytes, uint16_t version = 1) {
  Instruction step;
  step.kind = kind;
  step.peer = peer;
  step.version = version;
  step.source = schedule::Buffer::kInput;
  step.destination = schedule::Buffer::kOutput;
  step.bytes = step.elements = bytes;
  return step;
}

// On counter 0; `peer`: whose, or schedule::kShared.
inline Instruction counter_step(schedule::StepKind kind, uint32_t peer, uint32_t value) {
  Instruction step = step_of(kind, peer, 0);
  step.value = value;
  return step;
}

inline Program program_of(std::vector<Instruction> steps) {
  Program program;
  program.instructions = std::move(steps);
  program.uses_slots_or_counters = true;
  return program;
}

class RanksOfAGroup : public testing::Test {
 protected:
  static constexpr size_t kBufferBytes = 256 * 1024;

  struct Rank {
    std::unique_ptr<NodeGroup> group;
    std::unique_ptr<MemoryTransport> lane;
    std::vector<std::byte> input = std::vector<std::byte>(kBufferBytes);
    std::vector<std::byte> output = std::vector<std::byte>(kBufferBytes);
    Combiner combiner;
    Program program;
    Execution execution;

    void start(Program next) {
      program = std::move(next);
      Operands operands;
      operands.base[static_cast<int>(schedule::Buffer::kInput)] = input.data();
      operands.base[static_cast<int>(schedule::Buffer::kOutput)] = output.data();
      operands.combiner = &combiner;
      execution.start(program, operands, *lane);
    }
    void start(std::vector<Instruction> steps) { start(program_of(std::move(steps))); }
    bool is_done() { return !execution.is_running() || execution.advance() == Progress::kDone; }
    // A call of this root begins, as peers hear of it.
    void announce(uint64_t root) {
      const CallSignature shape{root, 8, 0};
      lane->announce(shape, hash_of_shape(shape), 0);
    }
    void fill(int first) {
      for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(first + i * 7 + i / 251);
    }
  };

  void open(uint32_t size) {
    auto region = platform::SharedRegion::create(size_t{64} << 20);
    ASSERT_TRUE(region.is_ok()) << region.status().message();
    region_ = region.take();
    std::vector<Member> members;
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto* block = static_cast<RankBlock*>(region_->allocate(RankBlock::bytes(size)));
      ASSERT_NE(block, nullptr);
      members.push_back({.block = block, .window = {region_->base(), region_->limit()}, .name = rank});
    }
    for (uint32_t rank = 0; rank < size; ++rank) {
      auto one = std::make_unique<Rank>();
      one->group = std::make_unique<NodeGroup>(rank, members, region_, false);
      auto lane = MemoryTransport::create(*one->group, 0);
      ASSERT_TRUE(lane.is_ok()) << lane.status().message();
      one->lane = lane.take();
      ranks_.push_back(std::move(one));
    }
  }
  Rank& rank(uint32_t rank) { return *ranks_[rank]; }
  platform::SharedRegion& region() { return *region_; }

  // All ranks by turns, until their calls are over; false: they don't come to an end.
  bool end_all() {
    for (int turn = 0; turn < 10'000; ++turn) {
      bool all = true;
      for (const auto& one : ranks_) all = one->is_done() && all;
      if (all) return true;
    }
    return false;
  }
  static bool are_equal(const std::vector<std::byte>& one, const std::vector<std::byte>& other, size_t bytes) {
    return std::memcmp(one.data(), other.data(), bytes) == 0;
  }

 private:
  std::shared_ptr<platform::SharedRegion> region_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace hocket::engines::shared_memory
