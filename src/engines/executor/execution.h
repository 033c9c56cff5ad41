// SPDX-License-Identifier: BSD-3-Clause
// One call being carried out: a program, its operands, and how far it has come. Never blocks.
//
// Thread safety: one thread at a time.
#pragma once

#include <vector>

#include "engines/executor/transport.h"

namespace hocket::engines {

class Execution {
 public:
  // Where start() expects the operands. Filled in place: a copy reads in wide words what has just been written in
  // narrow ones, and so waits for all earlier stores, those to lines that peers hold included.
  Operands& operands() { return operands_; }
  // `program` and `transport` must live until advance() has said kDone.
  void start(const Program& program, Transport& transport);
  void start(const Program& program, const Operands& operands, Transport& transport) {
    operands_ = operands;
    start(program, transport);
  }
  // Does what can be done now.
  Progress advance();
  // Forgets a call that an exception has ended.
  void abandon();
  bool is_running() const { return program_ != nullptr; }
  // The one step that the call waits in, or nullptr: several of a stage, or none that is known.
  const Instruction* waiting_step() const;
  // Goes up as the call's stages end; anew with each program.
  size_t position() const { return cursor_; }
  // Whether that step has been started.
  bool has_started_step() const { return program_ != nullptr && !states_.empty() && states_.front().phase != 0; }

 private:
  Progress run(const Instruction& step, StepState& state);
  Progress run_ready(const Instruction& step, StepState& state);
  Progress run_watched(const Instruction& step, StepState& state);
  Progress run_on_demand(const Instruction& step, StepState& state);
  Progress advance_stage(size_t end);

  const Program* program_ = nullptr;
  Transport* transport_ = nullptr;
  Operands operands_;
  bool is_watched_ = false;        // by who gives operands on demand, or by who traces
  size_t cursor_ = 0;              // first step of the current stage
  std::vector<StepState> states_;  // of the current stage's steps; cleared between stages and between calls
};

}  // namespace hocket::engines
