// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work, come late, and meet in barriers, on a modelled kernel (kernel_model.h). They wait as WaitState
// decides and know of each other by Turns and OwnTurn: the real ones. What the Waiter and a group do around these is
// modelled in steps that interleave: looks, yields, moves, and parking (announce, look once more, sleep, withdraw;
// write, look for sleepers, wake). In a library they sleep until they are rung, or by themselves for a part of the time
// without an event; who is on whose core they know by Turns as well.
//
// A run checks by itself
//   - that no sleep goes on although what it waits for has been written and no waker is on its way, and
//   - that a rank decides as one that has never waited before, once it has had no reason for anything else for 1 ms.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/waiting/kernel_model.h"

namespace hocket::platform::model {

// Work of a rank before a barrier.
struct Phase {
  int64_t work_ns = 0;
  int64_t late_ns = 0;  // asleep
};

// Faults of a rank, for the tests to detect.
enum class Mutation : uint8_t {
  kNone,
  kNoSecondLook,    // sleeps without looking once more after it has announced that
  kEndlessPenalty,  // sleeps at once for ever, once other load has been seen
  kStaysWithPeers   // does not find out that a peer is on its core
};

struct Scenario {
  uint64_t seed = 0;
  uint32_t cores = 2;
  uint32_t ranks = 2;
  bool has_short_slices = true;            // the kernel grants them
  std::vector<std::vector<Phase>> phases;  // of each rank; as many of all
  std::vector<Load> loads;
  // What WaitPolicy says of them: with 0 for both, each wait sleeps that doesn't end at once.
  int64_t spin_ns = 50'000;
  int64_t yield_ns = 1'000'000;
  Mutation mutation = Mutation::kNone;
  // Waiting costs nothing, and who is waited for runs at once on the best core: what no policy can surpass.
  bool is_oracle = false;
  // The ranks wait in a library that they poll; spin_ns is for how long they stay awake.
  bool in_library = false;
};

struct Outcome {
  int64_t end_ns = 0;   // when the last rank was done
  uint64_t waits = 0;   // in which a rank has found nothing at least once
  uint64_t events = 0;  // of the kernel: steps that ended, and sleeps that ended by themselves
  uint64_t sleeps = 0;
  uint64_t moves = 0;
  uint64_t compared = 0;              // decisions of ranks without a reason
  std::vector<int64_t> processor_ns;  // of each rank
  std::string trouble;                // what must not happen; "": nothing
};

Outcome run(const Scenario& scenario);

}  // namespace hocket::platform::model
