// SPDX-License-Identifier: BSD-3-Clause
// The last events of a process, in memory that is taken once. Writers never wait, neither for each other nor for a
// reader, who takes only what was there before and after he has copied it.
//
// A writer that was kept from running while others went once round comes to a place that is another's by now: where the
// other still writes, or has written what is newer, the event is lost. Each place has one writer at a time.
//
// Thread safety: any thread adds; one at a time reads.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.h"
#include "platform/tracing/trace_event.h"

namespace hocket::platform {

class TraceRing {
 public:
  // Room for as many events, or some more. Fails where there is no memory.
  static Result<std::unique_ptr<TraceRing>> create(uint64_t events);
  ~TraceRing();
  TraceRing(const TraceRing&) = delete;
  TraceRing& operator=(const TraceRing&) = delete;

  // The numbers of the next events, which lie behind each other; the first is given. Relaxed: numbers order nothing.
  uint64_t reserve(uint64_t events) { return head_.fetch_add(events, std::memory_order_relaxed); }
  void write(uint64_t number, const TraceEvent& event) {
    Slot& slot = slots_[number & mask_];
    uint64_t serial = slot.serial.load(std::memory_order_relaxed);
    // Acquire: the words follow those of the writer who was there before.
    if (serial > number || !slot.serial.compare_exchange_strong(serial, kBeingWritten, std::memory_order_acquire,
                                                                std::memory_order_relaxed)) [[unlikely]]
      return;
    const auto words = std::bit_cast<Words>(event);
    // Release, all: a reader who has seen any of the new words sees that the event isn't whole, or is another.
    // Partners: read(), and the next writer.
    for (size_t i = 0; i < words.size(); ++i) slot.words[i].store(words[i], std::memory_order_release);
    slot.serial.store(number + 1, std::memory_order_release);
  }
  void add(const TraceEvent& event) { write(reserve(1), event); }

  // How many there have been, and the first that may still be there.
  uint64_t added() const { return head_.load(std::memory_order_relaxed); }
  uint64_t first() const { return added() > mask_ + 1 ? added() - (mask_ + 1) : 0; }
  // False: it is being written, or has been overwritten.
  bool read(uint64_t number, TraceEvent& event) const;
  uint64_t capacity() const { return mask_ + 1; }

 private:
  using Words = std::array<uint64_t, sizeof(TraceEvent) / sizeof(uint64_t)>;
  static_assert(sizeof(Words) == sizeof(TraceEvent));
  static constexpr uint64_t kBeingWritten = ~uint64_t{0};  // above all numbers
  struct Slot {
    std::atomic<uint64_t> serial;  // 1 + the event's number; 0: there has been none
    std::atomic<uint64_t> words[std::tuple_size_v<Words>];
  };

  TraceRing(Slot* slots, uint64_t capacity) : slots_(slots), mask_(capacity - 1) {}

  Slot* slots_;
  uint64_t mask_;
  alignas(64) std::atomic<uint64_t> head_{0};
};

}  // namespace hocket::platform
