// SPDX-License-Identifier: BSD-3-Clause
// How often a rank that waits looks at the library underneath, on which peers outside the call may depend:
// a rank that accesses this process's memory by one-sided calls waits for these looks.
//
// While there is a reason to expect that, it looks each time that it looks for what it awaits itself, and doesn't sleep
// as long as something comes. Nothing tells whether a look has moved something but the time that it took: two that took
// clearly more than the shortest, one soon after the other, are believed to have. One by itself may have been
// interrupted, and the first after a sleep takes long always. A rank that is wrong about that stays awake as the
// library alone would.
//
// Thread safety: one thread at a time, but for the reasons, which any thread may count.
#pragma once

#include <atomic>
#include <cstdint>

namespace hocket::communicator {

class Attention {
 public:
  // How long a rank stays awake after something has come, and how long it sleeps at a time after that.
  static constexpr int64_t kAwakeNs = 50'000'000;
  static constexpr int64_t kPollPauseNs = 50'000;

  // When each look also goes to the library underneath, and how that library itself waits where ranks share cores.
  struct Occasion {
    const std::atomic<uint64_t>* reasons = nullptr;  // 0 while there is none; nullptr: there never is
    bool library_spins = false;  // it doesn't yield: a core given to it comes back when its time slice is over
  };
  explicit Attention(const Occasion& occasion) : reasons_(occasion.reasons), spins_(occasion.library_spins) {}

  // Relaxed: it orders nothing. A reason that arises during a wait is seen some looks later.
  bool is_called_for() const { return reasons_ != nullptr && reasons_->load(std::memory_order_relaxed) != 0; }
  // At the beginning of a wait: for all that is known, something may be on its way.
  void start(int64_t now_ns) {
    last_come_ns_ = now_ns;
    last_look_ns_ = now_ns + kLivelyNs;  // not yet
    kept_until_ns_ = 0;
  }
  // A look that began and ended then.
  void note(int64_t begin_ns, int64_t end_ns) {
    const int64_t took_ns = end_ns - begin_ns;
    if (took_ns > 2 * least_ns_ + kNoiseNs && !has_slept_) {
      if (begin_ns - last_long_ns_ < kPairNs) last_come_ns_ = end_ns;
      last_long_ns_ = end_ns;
    }
    has_slept_ = false;
    // A rank that was away for a time slice keeps the core for as long, as the library does itself.
    const int64_t away_ns = begin_ns - last_look_ns_;
    if (away_ns > kSliceNs) kept_until_ns_ = end_ns + (away_ns < kMostKeptNs ? away_ns : kMostKeptNs);
    last_look_ns_ = end_ns;
    // What was once shorter than it can be now is forgotten by and by.
    least_ns_ = took_ns < least_ns_ ? took_ns : least_ns_ + (++noted_ % kTerm == 0 ? least_ns_ / 16 + 1 : 0);
  }
  // Before the next look.
  void has_slept() { has_slept_ = true; }
  // Whether the core had better be kept for what is to come.
  bool keeps_core() const {
    return spins_ && (last_look_ns_ - last_come_ns_ < kLivelyNs || last_look_ns_ < kept_until_ns_);
  }
  bool may_sleep(int64_t now_ns) const { return now_ns - last_come_ns_ > kAwakeNs; }

 private:
  static constexpr int64_t kNoiseNs = 150;
  static constexpr int64_t kPairNs = 1'000'000;  // ticks of the kernel are further apart
  static constexpr uint32_t kTerm = 4096;
  static constexpr int64_t kLivelyNs = 100'000;
  static constexpr int64_t kSliceNs = 500'000;
  static constexpr int64_t kMostKeptNs = 5'000'000;
  const std::atomic<uint64_t>* reasons_;
  bool spins_;
  int64_t least_ns_ = INT64_MAX / 4;
  int64_t last_come_ns_ = 0;
  int64_t last_long_ns_ = INT64_MIN / 2;
  int64_t last_look_ns_ = 0;
  int64_t kept_until_ns_ = 0;
  uint32_t noted_ = 0;
  bool has_slept_ = false;
};

}  // namespace hocket::communicator
