// SPDX-License-Identifier: BSD-3-Clause
// In which places of the program this process spent its time in collective calls: part of what HOCKET_STATS=1 prints.
// A place is the address to which a call returns. There is room for kMost of them and their collectives; what is
// beyond is counted together.
//
// Thread safety: any thread; read() is for when all calls are over.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/statistics.h"

namespace hocket::interposer {

struct CallSite {
  const void* address = nullptr;  // nullptr: of those for which there was no room, or whose place isn't known
  Collective collective = Collective::kBarrier;
  uint64_t calls = 0;
  uint64_t ns = 0;
  uint64_t waited_ns = 0;  // of these, for ranks that came late
};

class CallSites {
 public:
  static constexpr size_t kMost = 512;
  void add(const CallSite& call);  // `calls`: 1
  // Without those that were never called.
  std::vector<CallSite> read() const;

 private:
  struct Slot {
    std::atomic<uint64_t> key = 0;  // 0: free
    std::atomic<uint64_t> calls = 0;
    std::atomic<uint64_t> ns = 0;
    std::atomic<uint64_t> waited_ns = 0;
  };
  Slot& slot_of(uint64_t key);
  // The last is for what finds no room.
  std::array<Slot, kMost + 1> slots_;
};

}  // namespace hocket::interposer
