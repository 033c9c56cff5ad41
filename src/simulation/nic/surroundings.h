// SPDX-License-Identifier: BSD-3-Clause
// What NIC engines in simulated time have around them: a clock, links, processors to work on, and hosts. The simulation
// provides it, and a simple network of a test does.
//
// Thread safety: none; a simulation is one thread's.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/packet.h"
#include "simulation/core/time.h"

namespace hocket::simulation {

class NicSurroundings {
 public:
  virtual ~NicSurroundings() = default;

  virtual Time now() const = 0;
  // NicEngines::happen(ticket) is to be called then; of the same time, in the order in which they were wanted.
  virtual void call_at(Time time, uint64_t ticket) = 0;

  // A packet of so many bytes, its frame's headers included, can leave its source at `ready`, which is not before
  // now(). Gives when it is at its target; kNever: it is lost.
  virtual Time carry(const nic_message& packet, uint32_t bytes, Time ready) = 0;
  // The same of one packet that goes to all: for each member, when it is there. Nobody looks at the source's own.
  virtual void carry_to_all(const nic_message& packet, uint32_t bytes, Time ready, std::vector<Time>& arrivals) = 0;

  // The processor on which a member's engine runs works for so long, from `ready` on or once it is free. Gives when it
  // has done so.
  virtual Time work(uint32_t member, Time ready, Time length) = 0;

  // What the host gets of an operation, where it gets something; before the operation is complete.
  virtual void give(uint32_t /*member*/, uint64_t /*epoch*/, const nic_operand& /*result*/) {}
  // From that time on the host can see that the operation is complete. Operations of a member come in their order. No
  // doorbell may be rung from within.
  virtual void complete(uint32_t member, uint64_t epoch, Time time) = 0;
};

}  // namespace hocket::simulation
