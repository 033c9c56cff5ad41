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
  // Whether several threads may be in the MPI at a time. Before there is anything to count.
  void share_among_threads(bool shared) { is_shared_ = shared; }
  bool is_shared_among_threads() const { return is_shared_; }
  void window_comes() {
    change([](uint64_t before) { return before + kWindow; });
  }
  // Also a window whose coming wasn't counted.
  void window_goes() {
    change([](uint64_t before) { return before >= kWindow ? before - kWindow : before; });
  }
  void message_begins() {
    change([](uint64_t before) { return before + 1; });
  }
  // Also of messages whose beginning wasn't counted.
  void messages_end(uint64_t number) {
    change([number](uint64_t before) {
      const uint64_t messages = before % kWindow;
      return before - (number < messages ? number : messages);
    });
  }
  bool has_windows() const { return all_.load(std::memory_order_relaxed) >= kWindow; }
  bool has_messages() const { return all_.load(std::memory_order_relaxed) % kWindow != 0; }
  // Not 0 while there is one.
  const std::atomic<uint64_t>* number() const { return &all_; }

 private:
  // One thread at a time needs no locked instruction, which takes longer than all the rest of a call's wrapper.
  template <typename Change>
  void change(const Change& to) {
    uint64_t before = all_.load(std::memory_order_relaxed);
    if (!is_shared_) [[likely]]
      return all_.store(to(before), std::memory_order_relaxed);
    while (!all_.compare_exchange_weak(before, to(before), std::memory_order_relaxed)) {
    }
  }

  static constexpr uint64_t kWindow = uint64_t{1} << 40;
  std::atomic<uint64_t> all_{0};
  bool is_shared_ = true;
};
inline AwaitedProgress awaited_progress;

}  // namespace hocket::interposer
