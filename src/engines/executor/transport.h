// SPDX-License-Identifier: BSD-3-Clause
// What moves data between ranks on behalf of the executor. One transport serves one call at a time.
//
// Every function returns at once; kPending means "ask again": the step's state remembers how far it got.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/executor/combiner.h"
#include "engines/executor/on_demand.h"
#include "engines/executor/program.h"

namespace hocket::engines {

enum class Progress : uint8_t { kDone, kPending };

// What a step has done so far; zero before its first run.
struct StepState {
  uint64_t bytes = 0;
  uint64_t serial = 0;
  uint8_t phase = 0;
  bool done = false;
};

// Hears of steps that took time, while calls are traced: on the clock of platform/tracing/fast_clock.h.
class StepWatch {
 public:
  virtual void did(schedule::StepKind kind, uint64_t from_ns, uint64_t to_ns) = 0;

 protected:
  ~StepWatch() = default;
};

// The memory and the operation of one call.
struct Operands {
  std::byte* base[4] = {};             // by schedule::Buffer
  const Combiner* combiner = nullptr;  // lives as long as the call
  OnDemand* on_demand = nullptr;       // the same; nullptr: all of the input is there
  StepWatch* watch = nullptr;          // the same; nullptr: nobody wants to know

  const std::byte* source(const Instruction& step) const {
    return base[static_cast<int>(step.source)] + step.source_offset;
  }
  std::byte* destination(const Instruction& step) const {
    return base[static_cast<int>(step.destination)] + step.destination_offset;
  }
  // Before `bytes` of the source are read, `done` bytes into it. The executor does so for all steps but kSend, which
  // transports read in pieces.
  void need(const Instruction& step, uint64_t done, uint64_t bytes) const {
    if (on_demand != nullptr && step.source != schedule::Buffer::kScratch && bytes != 0) [[unlikely]]
      on_demand->need(source(step) + done, bytes);
  }
  // When as much has been written to the destination. The executor does so for all steps but kReceive.
  void arrived(const Instruction& step, uint64_t done, uint64_t bytes) const {
    if (on_demand != nullptr && step.destination == schedule::Buffer::kOutput && bytes != 0) [[unlikely]]
      on_demand->arrived(destination(step) + done, bytes);
  }
  // destination = incoming (op) local or local (op) incoming; `done` bytes of it have been combined before.
  void combine(const Instruction& step, const std::byte* incoming, uint64_t done, uint64_t elements) const {
    const std::byte* local = source(step) + done;
    std::byte* out = destination(step) + done;
    if (step.incoming_left) {
      (*combiner)(incoming, local, out, elements);
    } else {
      (*combiner)(local, incoming, out, elements);
    }
  }
};

class Transport {
 public:
  virtual ~Transport() = default;
  // A new call begins. Steps of the one before are over.
  virtual void begin(const Program& program) = 0;
  // Runs or goes on with one step that involves a peer.
  virtual Progress run(const Instruction& step, StepState& state, const Operands& operands) = 0;
  // All steps are done: tells the peers. kPending while peers still read memory of this call's operands.
  virtual Progress finish() = 0;
};

}  // namespace hocket::engines
