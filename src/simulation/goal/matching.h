// SPDX-License-Identifier: BSD-3-Clause
// Which message meets which receive: as in MPI, by source and tag, the first that came first.
//
// Those of a source and a tag are a queue, and so are those of any source, or any tag, where there is a receive of
// such, so that a meeting costs the same however many wait.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulation/goal/goal.h"
#include "simulation/goal/key_table.h"

namespace hocket::simulation {

class Matching {
 public:
  static constexpr uint32_t kNobody = ~uint32_t{0};

  explicit Matching(const Goal& goal);

  // The send whose message a receive meets, else kNobody; then it waits for one.
  uint32_t post(uint32_t receive);
  // The receive that a send's message meets, else kNobody; then it waits for one.
  uint32_t arrive(uint32_t send);
  // Of sends, whether their messages have met receives.
  std::span<const uint8_t> received() const { return received_; }

 private:
  struct Entry {
    uint32_t operation;
    uint32_t next;
  };
  struct Queue {
    uint32_t first = kNobody;
    uint32_t last = kNobody;
  };
  // The queues that a message may be in: its source's and tag's, and three with any of them.
  struct Places {
    uint32_t channel[4];
    int count;
  };

  Places places_of(uint32_t send) const;
  void append(Queue& queue, uint32_t operation);

  const Goal& goal_;
  KeyTable channels_;                 // by rank, peer and tag
  std::vector<uint32_t> channel_of_;  // of each send and receive
  bool has_any_ = false;              // there are receives from any rank, or of any tag
  std::vector<Entry> entries_;        // in the order in which they began to wait
  std::vector<Queue> receives_;       // by channel
  std::vector<Queue> messages_;
  std::vector<uint8_t> received_;
};

}  // namespace hocket::simulation
