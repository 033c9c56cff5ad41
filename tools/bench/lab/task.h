// SPDX-License-Identifier: BSD-3-Clause
// What ranks of a measurement do: plain bytes, since it lies where all of them see it.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/packet.h"
#include "reduction/reduction.h"
#include "schedule/collective.h"

namespace hocket::lab_bench {

inline constexpr double kNsPerUs = 1000;

// How a rank waits: as long as it likes, or until a packet wakes it.
enum class Waiting : uint8_t { kSpin, kSleep };

enum class Timing : uint8_t {
  kBackToBack,  // one call after the other: how long each takes
  kLatency,     // from when the last rank begins, all others being there, until the last one that gets something has it
  kHostTime,    // how long each rank is in the call, after all have met and each has slept for a while by the dice
  // After all have met, in turn: how long a call takes; how long they compute; how long both take, if they compute
  // between beginning the call and asking for its result.
  kOverlap,
};

// Each rank has a block for each, or one for all: calls of MPIs only.
constexpr bool has_blocks(schedule::Collective collective) {
  return collective == schedule::Collective::kAllgather || collective == schedule::Collective::kAlltoall;
}

// A collective on 64-bit words, its root being rank 0. A barrier has none. A broadcast by an MPI may be of bytes
// instead; what has blocks always is.
struct Work {
  schedule::Collective collective = schedule::Collective::kBarrier;
  reduction::Operation operation = reduction::Operation::kNone;
  reduction::Type type = reduction::Type::kNone;  // of elements of 64 bits
  uint8_t words = 0;
  uint64_t bytes = 0;  // of a block, where there are blocks

  bool gives(uint32_t rank) const {
    return words != 0 && (collective != schedule::Collective::kBroadcast || rank == 0);
  }
  bool gets(uint32_t rank) const { return collective != schedule::Collective::kReduce || rank == 0; }
};

struct Task {
  uint32_t ranks = 2;
  uint32_t cores = 0;  // to which ranks are bound in turn; 0: all that the machine has
  uint32_t warm_ups = 100;
  uint32_t rounds = 10'000;
  uint64_t seed = 1;
  Waiting waiting = Waiting::kSpin;
  Timing timing = Timing::kBackToBack;
  Work work;
  double compute_us = 0;       // back to back: between calls, up to so long (uniformly); overlap: for so long
  bool burns = true;           // to compute is to use a core; else to sleep, as if there were one for each rank
  bool is_checked = false;     // barriers: whether all others have started; costs a little. Results always are
  uint32_t initiator = 0;      // latency: the rank that begins last
  double settle_us = 0;        // latency: from when all others have come to the call until the last one begins it
  double skew_us = 0;          // host's time: how long a rank sleeps before a call, at most (uniformly)
  bool fetches_later = false;  // the same: results are asked for when the clock has stopped

  // Calls of MPIs are the non-blocking ones.
  bool is_in_halves() const { return fetches_later || timing == Timing::kOverlap; }
};

// What `rank` gives in a call: numbers whose sums are exact in any order, or bits of which each rank's tell.
nic_operand operand_of(const Work& work, uint32_t rank, uint64_t call);
// What is wrong with the words that a rank got; "": nothing.
std::string difference(const Task& task, uint64_t call, const nic_operand& result);

}  // namespace hocket::lab_bench
