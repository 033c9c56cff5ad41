// SPDX-License-Identifier: BSD-3-Clause
// What a trace is made of (docs/trace.md): times in which a rank did one thing.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace hocket::platform {

enum class TraceKind : uint8_t {
  kCall,         // a collective that hocket carried out
  kPlan,         // in it: it was planned
  kWaitForRank,  // in it: `other` had not come
  kWaitForData,  // in it: all ranks of the node had come, and there was nothing to do
  kMove,         // in it: data was moved
  kReduce,       // in it: data was combined
  kPassed,       // a collective that was passed on to the MPI
  kMpiWait,      // another function of the MPI in which the rank waited
  kStarted,      // a non-blocking collective, beside what the rank does
  kOpen,         // a call that wasn't over when the trace was written, also beside it
};

enum class TraceEngine : uint8_t { kSharedMemory, kBetweenNodes, kEngine };

struct TraceEvent {
  static constexpr uint32_t kNone = ~0u;

  uint64_t began_ns = 0;
  uint64_t ended_ns = 0;
  // Texts that live as long as the process.
  const char* name = "";
  const char* algorithm = "";
  uint64_t bytes = 0;
  uint64_t number = 0;        // of the call on its communicator; of kMpiWait, 1 + the tag, 0 where there is none
  uint64_t communicator = 0;  // the same on all its ranks
  uint32_t root = kNone;      // of a collective that has one
  uint32_t track = 0;         // of the thread (Tracer)
  uint32_t other = kNone;     // the track of the rank that is waited for; of kMpiWait, the rank in its communicator
  TraceKind kind = TraceKind::kCall;
  TraceEngine engine = TraceEngine::kSharedMemory;
  uint16_t communicator_name = 0;  // its number (Tracer), 0: none
};

}  // namespace hocket::platform
