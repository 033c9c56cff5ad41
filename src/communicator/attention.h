// SPDX-License-Identifier: BSD-3-Clause
// How often a rank that waits polls the library underneath, on which peers outside the call may depend: a rank that
// accesses this process's memory by one-sided calls needs these polls.
//
// Where all ranks of the job are on its board (platform/waiting/wake_board.h), a rank polls with each look from a
// peer's ring on, until nothing has come for a while. Elsewhere it does so while there is a reason to expect something.
// Progress is inferred from the poll's duration: two polls that took clearly more than the shortest, one soon after the
// other, have moved something. A single one may have been interrupted, and the first after a sleep always takes long.
//
// Thread safety: one thread at a time, but for the reasons, which any thread may count.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/waiting/wake_board.h"

namespace hocket::communicator {

class Attention {
 public:
  // How long a rank stays awake after something has come, and how long it sleeps at a time after that.
  static constexpr int64_t kAwakeNs = 50'000'000;
  static constexpr int64_t kPollPauseNs = 50'000;
  // The latter where peers ring: what comes without a ring waits no longer.
  static constexpr int64_t kRungPollPauseNs = 2'000'000;

  // When each look also goes to the library underneath, and how that library itself waits where ranks share cores.
  struct Occasion {
    const std::atomic<uint64_t>* reasons = nullptr;  // 0 while there is none; nullptr: there never is
    bool library_spins = false;  // it doesn't yield: a core given to it comes back when its time slice is over
    platform::WakeBoard* board = nullptr;  // on which peers ring; nullptr: there is none
  };
  explicit Attention(const Occasion& occasion) : reasons_(occasion.reasons), spins_(occasion.library_spins) {
    rings_.listen_at(occasion.board);
  }

  // Whether peers may need this process. Relaxed: it orders nothing. A reason that arises during a wait is seen some
  // looks later.
  bool has_reasons() const { return reasons_ != nullptr && reasons_->load(std::memory_order_relaxed) != 0; }
  bool is_called_for() {
    if (rings_.is_newly_rung()) [[unlikely]]
      is_rung_ = is_just_rung_ = true;
    return is_rung_ || (has_reasons() && !rings_.is_complete());
  }
  // Once after each ring that is_called_for() has found: whether the ringer was on the caller's core.
  bool was_rung_from_here() {
    if (!is_just_rung_) [[likely]]
      return false;
    is_just_rung_ = false;
    return rings_.is_on_ringers_core();
  }
  // At the beginning of a wait: for all that is known, something may be on its way.
  void start(int64_t now_ns) {
    last_come_ns_ = now_ns;
    last_look_ns_ = now_ns + kLivelyNs;  // not yet
    kept_until_ns_ = 0;
  }
  // A look that began and ended then.
  void note(int64_t begin_ns, int64_t end_ns) {
    rings_.note(end_ns);
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
    if (may_sleep()) is_rung_ = false;
    // What was once shorter than it can be now is forgotten by and by.
    least_ns_ = took_ns < least_ns_ ? took_ns : least_ns_ + (++noted_ % kTerm == 0 ? least_ns_ / 16 + 1 : 0);
  }
  // Before the next look.
  void has_slept() { has_slept_ = true; }
  // Whether the core had better be kept for what is to come.
  bool keeps_core() const {
    return spins_ && (last_look_ns_ - last_come_ns_ < kLivelyNs || last_look_ns_ < kept_until_ns_);
  }
  // As of the last poll.
  bool may_sleep() const {
    if (!rings_.is_complete()) return last_look_ns_ - last_come_ns_ > kAwakeNs;
    return last_look_ns_ - last_come_ns_ > platform::AwakeTime::kShortestNs && !rings_.stays_awake(last_look_ns_);
  }
  // How long a sleep may last; INT64_MAX: as long as any.
  int64_t longest_sleep_ns() const {
    if (!has_reasons()) return INT64_MAX;
    return rings_.is_complete() ? kRungPollPauseNs : kPollPauseNs;
  }
  platform::RingListener& rings() { return rings_; }

 private:
  static constexpr int64_t kNoiseNs = 150;
  static constexpr int64_t kPairNs = 1'000'000;  // ticks of the kernel are further apart
  static constexpr uint32_t kTerm = 4096;
  static constexpr int64_t kLivelyNs = 100'000;
  static constexpr int64_t kSliceNs = 500'000;
  static constexpr int64_t kMostKeptNs = 5'000'000;
  const std::atomic<uint64_t>* reasons_;
  bool spins_;
  platform::RingListener rings_;
  bool is_rung_ = false;  // and what it was rung for may still come
  bool is_just_rung_ = false;
  int64_t least_ns_ = INT64_MAX / 4;
  int64_t last_come_ns_ = 0;
  int64_t last_long_ns_ = INT64_MIN / 2;
  int64_t last_look_ns_ = 0;
  int64_t kept_until_ns_ = 0;
  uint32_t noted_ = 0;
  bool has_slept_ = false;
};

}  // namespace hocket::communicator
