// SPDX-License-Identifier: BSD-3-Clause
// The executor over a transport that does what the test says: which steps it asks, when, and how often.
#include "engines/executor/execution.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

namespace hocket::engines {
namespace {

using schedule::Buffer;
using schedule::StepKind;
using Names = std::vector<uint32_t>;

// Steps are known by their peer.
class ScriptedTransport : public Transport {
 public:
  // How often a step answers kPending before it is done; 0 if not named.
  std::map<uint32_t, int> pending;
  int pending_finishes = 0;

  Names asked;                      // every run(), in order
  Names completed;                  // in order
  std::vector<uint8_t> seen_phase;  // what run() found in the step's state
  int started = 0;
  int finishes_asked = 0;

  void begin(const Program&) override { ++started; }
  Progress run(const Instruction& step, StepState& state, const Operands&) override {
    asked.push_back(step.peer);
    seen_phase.push_back(state.phase);
    ++state.phase;
    state.bytes = state.serial = 99;
    if (pending[step.peer]-- > 0) return Progress::kPending;
    completed.push_back(step.peer);
    return Progress::kDone;
  }
  Progress finish() override {
    ++finishes_asked;
    return pending_finishes-- > 0 ? Progress::kPending : Progress::kDone;
  }
};

Program program_of(std::vector<std::vector<Instruction>> stages) {
  Program program;
  for (std::vector<Instruction>& stage : stages) {
    program.longest_stage = std::max(program.longest_stage, static_cast<uint32_t>(stage.size()));
    for (Instruction& step : stage) {
      step.ends_stage = &step == &stage.back();
      program.instructions.push_back(step);
    }
  }
  return program;
}

// Stages of sends with these names.
Program sends(const std::vector<Names>& stages) {
  std::vector<std::vector<Instruction>> all;
  for (const Names& names : stages) {
    std::vector<Instruction>& stage = all.emplace_back();
    for (const uint32_t name : names) {
      Instruction& step = stage.emplace_back();
      step.kind = StepKind::kSend;
      step.peer = name;
    }
  }
  return program_of(std::move(all));
}

class ExecutionTest : public testing::Test {
 protected:
  void start(const Program& program) { execution_.start(program, operands_, transport_); }

  ScriptedTransport transport_;
  Combiner combiner_;
  Operands operands_;
  Execution execution_;
};

TEST_F(ExecutionTest, StepsOfAStageStartInListOrderAndCompleteInAnyOrder) {
  const Program program = sends({{7, 3, 5}});
  transport_.pending = {{7, 2}, {5, 1}};
  start(program);
  EXPECT_EQ(transport_.started, 1);
  EXPECT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(transport_.asked, Names({7, 3, 5}));
  EXPECT_EQ(transport_.completed, Names({3}));
  EXPECT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(transport_.asked, Names({7, 3, 5, 7, 5, 7})) << "what is done is not asked again";
  EXPECT_EQ(transport_.completed, Names({3, 5, 7}));
  EXPECT_FALSE(execution_.is_running());
}

TEST_F(ExecutionTest, TheNextStageStartsOnlyWhenAllOfThisOneAreDone) {
  const Program program = sends({{0, 1}, {2}, {3, 4}});
  transport_.pending = {{0, 2}, {2, 1}};
  start(program);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(transport_.asked, Names({0, 1, 0}));
  EXPECT_EQ(execution_.advance(), Progress::kPending) << "step 2 is a stage of its own";
  EXPECT_EQ(transport_.asked, Names({0, 1, 0, 0, 2}));
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(transport_.asked, Names({0, 1, 0, 0, 2, 2, 3, 4}));
}

TEST_F(ExecutionTest, AdvanceAsksEachUnfinishedStepOnceAndComesBack) {
  const Program program = sends({{0, 1, 2}});
  transport_.pending = {{0, 1'000'000}, {2, 1'000'000}};
  start(program);
  for (size_t call = 0; call < 50; ++call) {
    ASSERT_EQ(execution_.advance(), Progress::kPending);
    ASSERT_EQ(transport_.asked.size(), 3 + 2 * call);
  }
  EXPECT_EQ(transport_.finishes_asked, 0);
}

TEST_F(ExecutionTest, AStepsStateLastsUntilItIsDoneAndTheNextStageBeginsAfresh) {
  const Program program = sends({{0}, {1, 2}, {3, 4}});
  transport_.pending = {{0, 2}, {2, 1}};
  start(program);
  while (execution_.advance() == Progress::kPending) {
  }
  EXPECT_EQ(transport_.asked, Names({0, 0, 0, 1, 2, 2, 3, 4}));
  EXPECT_EQ(transport_.seen_phase, std::vector<uint8_t>({0, 1, 2, 0, 0, 1, 0, 0}));
}

TEST_F(ExecutionTest, IsOverOnlyWhenTheTransportHasFinished) {
  const Program program = sends({{0}});
  transport_.pending_finishes = 2;
  start(program);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_TRUE(execution_.is_running());
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_FALSE(execution_.is_running());
  EXPECT_EQ(transport_.asked, Names({0}));
  EXPECT_EQ(transport_.finishes_asked, 3);
}

TEST_F(ExecutionTest, AProgramWithoutStepsStillFinishes) {
  const Program program;
  start(program);
  EXPECT_TRUE(execution_.is_running());
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(transport_.finishes_asked, 1);
}

TEST_F(ExecutionTest, ServesAnotherProgramWithLongerStages) {
  const Program first = sends({{0}, {1}});
  start(first);
  ASSERT_EQ(execution_.advance(), Progress::kDone);
  Names many(40);
  std::iota(many.begin(), many.end(), 100u);
  const Program second = sends({many, {1, 2}});
  transport_.asked.clear();
  transport_.seen_phase.clear();
  transport_.completed.clear();
  transport_.pending = {{100, 1}, {139, 1}};
  start(second);
  EXPECT_EQ(transport_.started, 2);
  EXPECT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(transport_.asked, many);
  EXPECT_EQ(transport_.seen_phase, std::vector<uint8_t>(40, 0));
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(transport_.completed.size(), 42u);
}

TEST_F(ExecutionTest, ACallThatWasGivenUpLeavesNothingBehind) {
  const Program first = sends({{0, 1, 2}});
  transport_.pending = {{2, 1'000'000}};
  start(first);
  ASSERT_EQ(execution_.advance(), Progress::kPending);
  const Program second = sends({{3, 4, 5}});
  transport_.asked.clear();
  transport_.seen_phase.clear();
  start(second);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(transport_.asked, Names({3, 4, 5}));
  EXPECT_EQ(transport_.seen_phase, std::vector<uint8_t>(3, 0));
}

TEST_F(ExecutionTest, NamesTheOneStepThatItWaitsIn) {
  EXPECT_EQ(execution_.waiting_step(), nullptr);
  const Program program = sends({{0, 1}, {2}});
  transport_.pending = {{0, 1}, {1, 2}, {2, 1}};
  start(program);
  ASSERT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(execution_.waiting_step(), nullptr) << "there are two";
  ASSERT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(execution_.waiting_step(), &program.instructions[1]);
  ASSERT_EQ(execution_.advance(), Progress::kPending);
  EXPECT_EQ(execution_.waiting_step(), &program.instructions[2]);
  ASSERT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(execution_.waiting_step(), nullptr);
}

Instruction local_step(StepKind kind, Buffer source, Buffer destination, uint64_t bytes, uint64_t elements) {
  Instruction step;
  step.kind = kind;
  step.source = source;
  step.destination = destination;
  step.bytes = bytes;
  step.elements = elements;
  return step;
}

TEST_F(ExecutionTest, CopiesWhereTheOffsetsSay) {
  char input[] = "abcdef";
  char output[] = "------";
  operands_.base[static_cast<int>(Buffer::kInput)] = reinterpret_cast<std::byte*>(input);
  operands_.base[static_cast<int>(Buffer::kOutput)] = reinterpret_cast<std::byte*>(output);
  Instruction step = local_step(StepKind::kCopy, Buffer::kInput, Buffer::kOutput, 3, 3);
  step.source_offset = 2;
  step.destination_offset = 1;
  const Program program = program_of({{step}});
  start(program);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_STREQ(output, "-cde--");
  EXPECT_TRUE(transport_.asked.empty()) << "local steps are no business of the transport's";
}

// Memory that may not be touched: a copy of it would end the test.
TEST_F(ExecutionTest, CopyOfMemoryToItselfTouchesNothing) {
  constexpr size_t kBytes = 4096;
  void* page = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  operands_.base[static_cast<int>(Buffer::kInput)] = static_cast<std::byte*>(page);
  operands_.base[static_cast<int>(Buffer::kOutput)] = static_cast<std::byte*>(page);
  const Program program = program_of({{local_step(StepKind::kCopy, Buffer::kInput, Buffer::kOutput, kBytes, kBytes)}});
  start(program);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  munmap(page, kBytes);
}

// Digits in the order of the operands: 1 (op) 2 = 12.
void append_digits(const void* left, const void* right, void* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    static_cast<uint32_t*>(out)[i] =
        static_cast<const uint32_t*>(left)[i] * 10 + static_cast<const uint32_t*>(right)[i];
  }
}

class OperandOrder : public ExecutionTest, public testing::WithParamInterface<bool> {
 protected:
  OperandOrder() {
    operands_.base[static_cast<int>(Buffer::kInput)] = reinterpret_cast<std::byte*>(input_);
    operands_.base[static_cast<int>(Buffer::kOutput)] = reinterpret_cast<std::byte*>(output_);
    operands_.combiner = &combiner_;
    combiner_.kernel = append_digits;
    combiner_.element_bytes = sizeof(uint32_t);
  }

  uint32_t input_[3] = {1, 3, 5};
  uint32_t output_[3] = {2, 4, 6};
};

TEST_P(OperandOrder, OfALocalCombinationHasItsSourceAsIncoming) {
  Instruction step = local_step(StepKind::kCombine, Buffer::kInput, Buffer::kOutput, 8, 2);
  step.incoming_left = GetParam();
  const Program program = program_of({{step}});
  start(program);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(output_[0], GetParam() ? 12u : 21u);
  EXPECT_EQ(output_[1], GetParam() ? 34u : 43u);
  EXPECT_EQ(output_[2], 6u) << "beyond the step's elements";
  EXPECT_EQ(input_[0], 1u);
}

TEST_P(OperandOrder, OfWhatATransportBringsGoesOnWhereItStopped) {
  Instruction step = local_step(StepKind::kReceiveCombine, Buffer::kInput, Buffer::kOutput, 12, 3);
  step.incoming_left = GetParam();
  const uint32_t incoming[] = {7, 8, 9};
  operands_.combine(step, reinterpret_cast<const std::byte*>(incoming), 0, 1);
  EXPECT_EQ(output_[1], 4u);
  operands_.combine(step, reinterpret_cast<const std::byte*>(incoming + 1), sizeof(uint32_t), 2);
  EXPECT_EQ(output_[0], GetParam() ? 71u : 17u);
  EXPECT_EQ(output_[1], GetParam() ? 83u : 38u);
  EXPECT_EQ(output_[2], GetParam() ? 95u : 59u);
}

// MPI's functions overwrite their right operand, whatever memory hocket's result should lie in.
void append_as_user(const void* in, void* inout, size_t count, uint32_t, void*) {
  append_digits(in, inout, inout, count);
}

TEST_P(OperandOrder, HoldsForFunctionsOfTheUsers) {
  combiner_.kernel = nullptr;
  combiner_.function = append_as_user;
  combiner_.commutative = false;
  Instruction step = local_step(StepKind::kCombine, Buffer::kInput, Buffer::kOutput, 12, 3);
  step.incoming_left = GetParam();
  const Program program = program_of({{step}});
  start(program);
  EXPECT_EQ(execution_.advance(), Progress::kDone);
  EXPECT_EQ(output_[0], GetParam() ? 12u : 21u);
  EXPECT_EQ(output_[2], GetParam() ? 56u : 65u);
  const uint32_t incoming[] = {7, 8, 9};
  operands_.combine(step, reinterpret_cast<const std::byte*>(incoming), 0, 3);
  EXPECT_EQ(output_[0], GetParam() ? 71u : 17u) << "the result in memory of neither operand";
  EXPECT_EQ(input_[0], 1u);
}

INSTANTIATE_TEST_SUITE_P(, OperandOrder, testing::Bool(),
                         [](const auto& info) { return info.param ? "IncomingLeft" : "IncomingRight"; });

}  // namespace
}  // namespace hocket::engines
