// SPDX-License-Identifier: BSD-3-Clause
// Reports the turns of a thread, and judges by the reports of others whose turn a yield was.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "platform/waiting/turns.h"

namespace hocket::platform {

class OwnTurn {
 public:
  // A turn this long was work, and is published.
  static constexpr int64_t kWorkNs = 20'000;
  // A yield among ranks that wait takes a microsecond a rank, among ranks that work in pieces some tens. One that takes
  // this long, somewhat less than the tick of a kernel with 1000 a second, has let another program compute.
  static constexpr int64_t kLongYieldNs = 950'000;
  // A yield that comes later says nothing of an earlier one.
  static constexpr int64_t kDoubtLastsNs = 1'000'000;

  // `has_hidden_peers`: as far as this rank knows, one of them had a core that was taken from it.
  OwnTurn(const Turns* turns, bool has_hidden_peers) : turns_(turns), has_hidden_peers_(has_hidden_peers) {}

  // The thread has just got its core.
  void begin(int64_t now_ns) { begin_ns_ = now_ns; }
  // Returns true, and publishes the turn that ends now, if it was work. Elapsed time shows that only together with
  // processor time: the thread may have slept, or have been interrupted.
  template <typename ProcessorTime>
  [[nodiscard]] bool end(int core, int64_t now_ns, const ProcessorTime& processor_time_ns) {
    if (begin_ns_ == 0) begin_ns_ = now_ns;
    if (now_ns - begin_ns_ < kWorkNs) return false;
    const int64_t began_ns = std::exchange(begin_ns_, now_ns);
    const int64_t cpu_ns = processor_time_ns();
    const int64_t worked_ns = std::min(now_ns - began_ns, cpu_ns - std::exchange(cpu_ns_, cpu_ns));
    if (worked_ns < kWorkNs) return false;
    if (turns_ != nullptr) turns_->report(core, now_ns - worked_ns, now_ns);
    return true;
  }
  bool is_known() const { return begin_ns_ != 0; }

  // A yield lasted from `before_ns` to `now_ns`. Returns how long others than the job's ranks had the core, 0 if that
  // is not known. A peer that was interrupted reports its turn only when it gives up the core, so it takes two long
  // yields, without a report that explains the first.
  int64_t foreign_ns(int core, int64_t before_ns, int64_t now_ns) {
    if (before_ns - doubtful_end_ns_ > kDoubtLastsNs ||
        (doubtful_end_ns_ != 0 && went_to_peers(core, doubtful_begin_ns_, doubtful_end_ns_)))
      doubtful_end_ns_ = 0;
    if (now_ns - before_ns < kLongYieldNs || went_to_peers(core, before_ns, now_ns)) return 0;
    const int64_t foreign_ns = doubtful_end_ns_ == 0 ? 0 : doubtful_end_ns_ - doubtful_begin_ns_;
    doubtful_begin_ns_ = before_ns;
    doubtful_end_ns_ = now_ns;
    return foreign_ns;
  }

 private:
  bool went_to_peers(int core, int64_t begin_ns, int64_t end_ns) const {
    return has_hidden_peers_ ||
           (turns_ != nullptr && 2 * turns_->of_others_ns(core, begin_ns, end_ns) >= end_ns - begin_ns);
  }

  const Turns* turns_;
  bool has_hidden_peers_;
  int64_t begin_ns_ = 0;           // when this thread last got the core; 0: unknown
  int64_t cpu_ns_ = 0;             // its processor time when it last reported a turn
  int64_t doubtful_begin_ns_ = 0;  // of a long yield that no report explains
  int64_t doubtful_end_ns_ = 0;    // 0: none
};

}  // namespace hocket::platform
