// SPDX-License-Identifier: BSD-3-Clause
// What carries steps of one sequence of calls (a track) that leave the memory of the node: messages over a wire, NIC
// engines, multicast. A track has a list of carriers; each step names the one that it belongs to, which was decided
// when its plan was bound. Shared memory is not in the list: its steps go there directly.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "engines/executor/transport.h"

namespace hocket::engines {

// How a rank learns that what is under way at a carrier has moved on.
enum class WakeUp : uint8_t {
  kIdle,        // nothing is under way
  kNone,        // nothing wakes the rank: it has to poll
  kPartial,     // what comes here wakes it from sleep(), other things that it waits for don't
  kSufficient,  // what comes here wakes it from sleep(), and it waits for nothing else of this carrier's
};

class Carrier {
 public:
  virtual ~Carrier() = default;

  // --- calls ---------------------------------------------------------------------------------------------------------
  // A number that is the same on all ranks that are in the same call, and as a rule another in another call.
  virtual void mark(uint32_t) {}
  virtual void begin(const Program&) {}
  // Begins a step that is this carrier's, or says how it stands.
  virtual Progress run(const Instruction& step, StepState& state, const Operands& operands) = 0;
  // The call ends although some of its steps are incomplete.
  virtual void cancel() {}

  // --- what is under way ---------------------------------------------------------------------------------------------
  // Moves it, before steps are asked again. True: something that a call waits for has come, so that the carriers behind
  // this one need not be polled now.
  virtual bool poll() { return false; }
  // After the carriers behind this one have been polled.
  virtual void after_poll() {}
  // Whether a step that has just started may have been completed at once, so that a poll pays; forgets it.
  virtual bool has_just_started() { return false; }
  virtual WakeUp wake_up() const { return WakeUp::kIdle; }
  // Until something comes in, or `limit_ns` are over. False: the time has ended it.
  virtual bool sleep(int64_t) { return false; }
  // What no call waits for but must come before the track goes. poll_leftovers() moves it.
  virtual bool has_leftovers() const { return false; }
  virtual void poll_leftovers() {}

  // --- failure -------------------------------------------------------------------------------------------------------
  virtual bool has_failed() const { return false; }
  virtual Status take_failure() { return Status::ok(); }
  // Checks for failures that run() and poll() do not look for. To be called occasionally.
  virtual Status check() { return Status::ok(); }
};

}  // namespace hocket::engines
