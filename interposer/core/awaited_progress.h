// SPDX-License-Identifier: BSD-3-Clause
// Why a peer may depend on this process's looks at the MPI while it waits in hocket: it has a window, on whose memory
// others work, or messages and file operations that it has started and not seen the end of. Counted to know how often
// to look (communicator/attention.h) and for nothing else: a count that is wrong for a while, as where a function ends
// requests that isn't caught, does no harm.
//
// Thread safety: any thread. Relaxed throughout: the numbers order nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace hocket::interposer {

class AwaitedProgress {
 public:
  void window_comes() { all_.fetch_add(kWindow, std::memory_order_relaxed); }
  // Also a window whose coming wasn't counted.
  void window_goes() {
    uint64_t before = all_.load(std::memory_order_relaxed);
    while (before >= kWindow && !all_.compare_exchange_weak(before, before - kWindow, std::memory_order_relaxed)) {
    }
  }
  void message_begins() { all_.fetch_add(1, std::memory_order_relaxed); }
  // Also of messages whose beginning wasn't counted.
  void messages_end(uint64_t number) {
    uint64_t before = all_.load(std::memory_order_relaxed);
    uint64_t after = 0;
    do {
      const uint64_t messages = before % kWindow;
      after = before - (number < messages ? number : messages);
    } while (!all_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  }
  bool has_messages() const { return all_.load(std::memory_order_relaxed) % kWindow != 0; }
  // Not 0 while there is one.
  const std::atomic<uint64_t>* number() const { return &all_; }

 private:
  static constexpr uint64_t kWindow = uint64_t{1} << 40;
  std::atomic<uint64_t> all_{0};
};
inline AwaitedProgress awaited_progress;

}  // namespace hocket::interposer
