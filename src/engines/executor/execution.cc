// SPDX-License-Identifier: BSD-3-Clause
#include "engines/executor/execution.h"

#include <algorithm>
#include <cstring>

#include "base/assertion.h"
#include "platform/tracing/fast_clock.h"

namespace hocket::engines {

using schedule::StepKind;

void Execution::start(const Program& program, Transport& transport) {
  if (program_ != nullptr) [[unlikely]]
    abandon();
  HOCKET_ASSERT(program.instructions.empty() || program.instructions.back().ends_stage,
                "a program ends its last stage");
  program_ = &program;
  transport_ = &transport;
  cursor_ = 0;
  is_watched_ = operands_.on_demand != nullptr || operands_.watch != nullptr;
  if (states_.size() < program.longest_stage) [[unlikely]]
    states_.resize(program.longest_stage);
  transport.begin(program);
}

void Execution::abandon() {
  program_ = nullptr;
  std::fill(states_.begin(), states_.end(), StepState{});
}

inline Progress Execution::run(const Instruction& step, StepState& state) {
  if (is_watched_) [[unlikely]]
    return run_watched(step, state);
  return run_ready(step, state);
}

// A look in vain takes less than this; a step that comes a part further takes more.
constexpr uint64_t kShortestWorkNs = 1000;

Progress Execution::run_watched(const Instruction& step, StepState& state) {
  if (operands_.watch == nullptr) return run_on_demand(step, state);
  const uint64_t from_ns = platform::fast_now_ns();
  const Progress progress = operands_.on_demand == nullptr ? run_ready(step, state) : run_on_demand(step, state);
  const uint64_t to_ns = platform::fast_now_ns();
  if (progress == Progress::kDone || to_ns - from_ns > kShortestWorkNs) operands_.watch->did(step.kind, from_ns, to_ns);
  return progress;
}

Progress Execution::run_on_demand(const Instruction& step, StepState& state) {
  if (step.kind != StepKind::kSend) operands_.need(step, 0, step.bytes);
  const Progress progress = run_ready(step, state);
  const bool brings = step.kind == StepKind::kGet || step.kind == StepKind::kCopy || step.kind == StepKind::kFirstOf;
  if (brings && progress == Progress::kDone) operands_.arrived(step, 0, step.bytes);
  return progress;
}

inline Progress Execution::run_ready(const Instruction& step, StepState& state) {
  switch (step.kind) {
    case StepKind::kCopy:
      if (step.bytes != 0 && operands_.source(step) != operands_.destination(step)) {
        std::memmove(operands_.destination(step), operands_.source(step), step.bytes);
      }
      return Progress::kDone;
    case StepKind::kCombine: {
      // The "incoming" operand of a local combination is its source, the local one the destination itself.
      const std::byte* source = operands_.source(step);
      std::byte* destination = operands_.destination(step);
      if (step.incoming_left) {
        (*operands_.combiner)(source, destination, destination, step.elements);
      } else {
        (*operands_.combiner)(destination, source, destination, step.elements);
      }
      return Progress::kDone;
    }
    default:
      return transport_->run(step, state, operands_);
  }
}

// Steps of a stage are started in their order, which is also the order in which messages to one peer are matched.
Progress Execution::advance_stage(size_t end) {
  bool all_done = true;
  for (size_t i = cursor_; i < end; ++i) {
    StepState& state = states_[i - cursor_];
    if (state.done) continue;
    if (run(program_->instructions[i], state) == Progress::kDone) {
      state.done = true;
    } else {
      all_done = false;
    }
  }
  return all_done ? Progress::kDone : Progress::kPending;
}

const Instruction* Execution::waiting_step() const {
  if (program_ == nullptr || cursor_ >= program_->instructions.size()) return nullptr;
  const Instruction* waiting = nullptr;
  for (size_t i = cursor_;; ++i) {
    const Instruction& step = program_->instructions[i];
    if (!states_[i - cursor_].done) {
      if (waiting != nullptr) return nullptr;
      waiting = &step;
    }
    if (step.ends_stage) return waiting;
  }
}

Progress Execution::advance() {
  HOCKET_ASSERT(program_ != nullptr, "a call is advanced that has started and is not over");
  const Instruction* const steps = program_->instructions.data();
  const size_t count = program_->instructions.size();
  StepState* const states = states_.data();
  // In a register while stages of one step follow each other.
  size_t cursor = cursor_;
  while (cursor < count) {
    if (steps[cursor].ends_stage) {
      if (run(steps[cursor], states[0]) == Progress::kPending) {
        cursor_ = cursor;
        return Progress::kPending;
      }
      states[0] = StepState{};
      ++cursor;
      continue;
    }
    cursor_ = cursor;
    size_t end = cursor + 1;
    while (!steps[end - 1].ends_stage) ++end;
    HOCKET_ASSERT(end - cursor <= states_.size(), "no stage is longer than its program says");
    if (advance_stage(end) == Progress::kPending) return Progress::kPending;
    std::fill_n(states, end - cursor, StepState{});
    cursor = end;
  }
  cursor_ = cursor;
  if (transport_->finish() == Progress::kPending) return Progress::kPending;
  program_ = nullptr;
  return Progress::kDone;
}

}  // namespace hocket::engines
