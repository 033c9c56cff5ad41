// SPDX-License-Identifier: BSD-3-Clause
// Barriers of two ranks as one would write them by hand, each moving the same cache lines between the cores as the
// schedule of that name: no plan, nobody sleeps, nothing is told to who doesn't wait for it.
//
// Calls are numbered from 0 and take places in rotation as the lane's do, so that none has to be reset.
//
// Thread safety: one object a rank, each on its thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "engines/shared_memory/layout.h"
#include "two_ranks.h"
#include "versus.h"

namespace hocket::bench {

// Of each rank, in its own region.
struct HandLines {
  struct alignas(64) Line {
    std::atomic<uint64_t> value;
  };
  Line sets[engines::shared_memory::kSets];
  Line mail[engines::shared_memory::kMailDepth];
};

class BarrierByHand {
 public:
  BarrierByHand(uint32_t rank, HandLines* const (&lines)[TwoRanks::kRanks])
      : rank_(rank), root_(*lines[0]), mine_(*lines[rank]), peers_(*lines[1 - rank]) {}

 protected:
  static void await(const HandLines::Line& line, uint64_t value) {
    Spinning spinning;
    // Acquire: pairs with the peer's release, as a barrier has to.
    while (line.value.load(std::memory_order_acquire) < value) spinning.pause();
  }

  uint32_t rank_;
  HandLines& root_;
  HandLines& mine_;
  HandLines& peers_;
  uint64_t call_ = 0;
};

// Both add to one word and wait until it is full.
class SignalByHand : public BarrierByHand {
 public:
  static constexpr const char* kName = "signal";
  using BarrierByHand::BarrierByHand;
  void operator()() {
    HandLines::Line& line = root_.sets[call_ % engines::shared_memory::kSets];
    const uint64_t full = (call_ / engines::shared_memory::kSets + 1) * TwoRanks::kRanks;
    // Release: what this rank did before; pairs with await().
    line.value.fetch_add(1, std::memory_order_acq_rel);
    await(line, full);
    ++call_;
  }
};

// Each writes to the other's line and waits for its own. That the other has read the line that is written again needs
// no word of his: he has come seven barriers further since.
class ExchangeByHand : public BarrierByHand {
 public:
  static constexpr const char* kName = "pairwise_exchange";
  using BarrierByHand::BarrierByHand;
  void operator()() {
    const uint64_t place = call_ % engines::shared_memory::kMailDepth;
    ++call_;
    // Release: what this rank did before; pairs with await().
    peers_.mail[place].value.store(call_, std::memory_order_release);
    await(mine_.mail[place], call_);
  }
};

// Rank 1 tells rank 0, which answers.
class ThereAndBackByHand : public BarrierByHand {
 public:
  static constexpr const char* kName = "one_to_all";
  using BarrierByHand::BarrierByHand;
  void operator()() {
    const uint64_t place = call_ % engines::shared_memory::kSets;
    const uint64_t there = call_ / engines::shared_memory::kSets + 1;
    ++call_;
    if (rank_ == 0) await(mine_.sets[place], there);
    // Release: what this rank did before; pairs with await(). An addition as in the schedule; a store would do, but
    // takes longer to get there.
    peers_.sets[place].value.fetch_add(1, std::memory_order_acq_rel);
    if (rank_ != 0) await(mine_.sets[place], there);
  }
};

}  // namespace hocket::bench
