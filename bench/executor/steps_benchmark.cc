// SPDX-License-Identifier: BSD-3-Clause
// What the executor spends on a step itself: one thread, programs of local copies of 8 bytes, of nothing, or of steps
// that a transport answers at once, against the same copies written out, or against nothing.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "engines/executor/execution.h"
#include "versus.h"

namespace {

using hocket::engines::Execution;
using hocket::engines::Instruction;
using hocket::engines::Operands;
using hocket::engines::Program;
using hocket::engines::Progress;
using hocket::engines::StepState;
using hocket::schedule::Buffer;
using hocket::schedule::StepKind;

constexpr uint64_t kBytes = 8;

class NullTransport final : public hocket::engines::Transport {
 public:
  void begin(const Program&) override {}
  Progress run(const Instruction&, StepState&, const Operands&) override { return Progress::kDone; }
  Progress finish() override { return Progress::kDone; }
};

enum class Stages { kOneAStep, kOneForAll };

Program program_of(uint32_t steps, StepKind kind, uint64_t bytes, Stages stages) {
  Program program;
  for (uint32_t i = 0; i < steps; ++i) {
    Instruction& step = program.instructions.emplace_back();
    step.kind = kind;
    step.ends_stage = stages == Stages::kOneAStep || i + 1 == steps;
    step.source = Buffer::kInput;
    step.destination = Buffer::kOutput;
    step.source_offset = step.destination_offset = i * kBytes;
    step.bytes = step.elements = bytes;
  }
  if (stages == Stages::kOneForAll && steps > 0) program.longest_stage = steps;
  return program;
}

void run(benchmark::State& state, StepKind kind, uint64_t bytes, Stages stages) {
  const auto steps = static_cast<uint32_t>(state.range(0));
  const Program program = program_of(steps, kind, bytes, stages);
  std::vector<std::byte> input(steps * kBytes + 1);
  std::vector<std::byte> output(steps * kBytes + 1);
  Operands operands;
  operands.base[static_cast<int>(Buffer::kInput)] = input.data();
  operands.base[static_cast<int>(Buffer::kOutput)] = output.data();
  NullTransport transport;
  Execution execution;
  const uint32_t copies = kind == StepKind::kCopy && bytes != 0 ? steps : 0;
  auto by_hand = [&, from = input.data(), to = output.data()] {
    for (uint32_t i = 0; i < copies; ++i) {
      std::memcpy(to + i * kBytes, from + i * kBytes, kBytes);
      benchmark::ClobberMemory();  // one copy after the other, not all of them at once
    }
    benchmark::ClobberMemory();
  };
  auto ours = [&] {
    execution.start(program, operands, transport);
    while (execution.advance() == Progress::kPending) {
    }
  };
  hocket::bench::compare(state, steps, by_hand, ours);
}

void add(const char* name, StepKind kind, uint64_t bytes, Stages stages) {
  benchmark::RegisterBenchmark(name, run, kind, bytes, stages)->Arg(2)->Arg(16)->Arg(64)->UseManualTime();
}

[[maybe_unused]] const bool registered = [] {
  benchmark::RegisterBenchmark("call_of_no_steps", run, StepKind::kCopy, kBytes, Stages::kOneAStep)
      ->Arg(0)
      ->UseManualTime();
  add("copy_8B/stage_each", StepKind::kCopy, kBytes, Stages::kOneAStep);
  add("copy_8B/one_stage", StepKind::kCopy, kBytes, Stages::kOneForAll);
  add("copy_nothing/stage_each", StepKind::kCopy, 0, Stages::kOneAStep);
  add("copy_nothing/one_stage", StepKind::kCopy, 0, Stages::kOneForAll);
  add("null_transport/stage_each", StepKind::kSend, 0, Stages::kOneAStep);
  add("null_transport/one_stage", StepKind::kSend, 0, Stages::kOneForAll);
  return true;
}();

}  // namespace
