// SPDX-License-Identifier: BSD-3-Clause
// How long a schedule in GOAL takes by the LogGOPS model: to the nanosecond what the simulator LogGOPSim says (Hoefler,
// Schneider, Lumsdaine, LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model, HPDC 2010), whose network
// is `LogGP` and knows no noise. The rules, of a message of s bytes, where a charge for bytes is for s - 1 of them:
//
//   calculation  occupies its CPU for its time.
//   send         starts when its CPU and its NIC's sending side are free. It occupies the CPU for o + (s-1) O and the
//                NIC for g + (s-1) G, and its message arrives o + L after its start. It has ended at once if s <= S,
//                else (rendezvous) when message and receive have met; its CPU then counts as occupied until there, but
//                others may have used it in between.
//   arrival      is served when the CPU and the NIC's receiving side, of the same numbers as the sender's, are free.
//                It occupies the CPU for o + max((s-1) O, (s-1) G) and the NIC for g + (s-1) G. The message meets the
//                receive that was posted first of those that it fits; if there is none it becomes an unexpected one.
//   receive      is posted when its CPU is free, and occupies nothing. It meets the unexpected message that came first
//                of those that it fits; then it has ended.
//   order        of what could happen at the same time: what became possible first comes first. Of what became possible
//                by the same event: lower ranks first, in a rank sends, then receives, then calculations, in these as
//                in the schedule (but where there are more than 16, as std::sort leaves them, there as here). What
//                finds its CPU or its NIC occupied keeps its place.
//
// A rank has finished when its last CPU is free.
//
// Where LogGOPSim's numbers have no meaning, these differ:
//   - A message of 0 bytes is charged as one of 1 byte; there s - 1 is -1, or 2^64 - 1.
//   - An operation on another CPU than what it depends on waits for the end of that; there it starts once its own CPU
//     is free.
//   - The message's bytes decide whether there is a rendezvous; there the receive's do where the message came first, so
//     that schedules whose receives are longer than their messages go astray.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "simulation/goal/goal.h"

namespace hocket::simulation {

// What is not told is as in LogGOPSim.
struct LogGops {
  uint64_t latency_ns = 2500;               // L
  uint64_t overhead_ns = 1500;              // o
  uint64_t gap_ns = 1000;                   // g
  uint64_t gap_per_byte_ps = 6000;          // G
  uint64_t overhead_per_byte_ps = 0;        // O
  uint64_t rendezvous_above_bytes = 65535;  // S

  bool operator==(const LogGops&) const = default;
};

// `L=2500,o=1500,g=1000,G=6,O=0,S=65535`, in ns and bytes, in any order and any of them; G and O with up to three
// digits behind a point. What a message's bytes are charged is then rounded to the next ns. kInvalidArgument says what
// is wrong.
Result<LogGops> parse_loggops(std::string_view text);

struct GoalTimes {
  std::vector<uint64_t> finish_ns;  // of each rank
  uint64_t maximum_ns = 0;
  uint64_t events = 0;  // as LogGOPSim counts them: operations and messages
  uint64_t messages = 0;
  uint64_t bytes = 0;  // of all messages
};

// kInvalidArgument for a schedule that doesn't come to an end, which names one that stands still and why, and for times
// of 2^64 ns and beyond.
Result<GoalTimes> simulate(const Goal& goal, const LogGops& parameters);

}  // namespace hocket::simulation
