// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_ring.h"

#include <sys/mman.h>

#include <cerrno>

namespace hocket::platform {

// Pages are taken as they are first written to: who traces little pays for little.
Result<std::unique_ptr<TraceRing>> TraceRing::create(uint64_t events) {
  const uint64_t capacity = std::bit_ceil(events);
  void* memory = mmap(nullptr, capacity * sizeof(Slot), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return Status::system("taking memory for the events of HOCKET_TRACE", errno);
  return std::unique_ptr<TraceRing>(new TraceRing(static_cast<Slot*>(memory), capacity));
}

TraceRing::~TraceRing() { munmap(slots_, capacity() * sizeof(Slot)); }

bool TraceRing::read(uint64_t number, TraceEvent& event) const {
  const Slot& slot = slots_[number & mask_];
  // Acquire, all: the words are at least as new as the serial, and the serial that is read again is at least as new as
  // they. Partner: write().
  if (slot.serial.load(std::memory_order_acquire) != number + 1) return false;
  Words words;
  for (size_t i = 0; i < words.size(); ++i) words[i] = slot.words[i].load(std::memory_order_acquire);
  if (slot.serial.load(std::memory_order_relaxed) != number + 1) return false;
  event = std::bit_cast<TraceEvent>(words);
  return true;
}

}  // namespace hocket::platform
