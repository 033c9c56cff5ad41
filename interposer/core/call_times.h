// SPDX-License-Identifier: BSD-3-Clause
// How long this process was in collective calls, carried out or passed through, where in the program, and how long of
// that it waited for whom: part of what HOCKET_STATS=1 prints.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/report/call_sites.h"
#include "core/report/choices.h"
#include "core/statistics.h"

namespace hocket::interposer {

// Times by collective; the last is the whole job's, from MPI_Init to MPI_Finalize.
using TimeArray = std::array<uint64_t, kCollectives + 1>;

// What is known of a call's wait.
struct CallWait {
  bool is_known = false;  // when the last rank came
  uint64_t ns = 0;        // until then
  int late_rank = -1;     // which it was, of the job; -1: not known, or this one
};

class CallTimes {
 public:
  // Of so many ranks.
  void begin_job(int ranks);
  // Relaxed: a call that another thread is in meanwhile belongs to the job or not.
  bool is_on() const { return began_ns_.load(std::memory_order_relaxed) != 0; }
  // `caller`: the address to which the call returns; nullptr: not known.
  void add(Collective collective, const void* caller, uint64_t ns, const CallWait& wait);
  // Nothing is timed any more. In nanoseconds.
  TimeArray end_job();
  const CallSites& sites() const { return sites_; }
  Choices& choices() { return choices_; }
  uint64_t timed_ns() const { return timed_ns_.load(std::memory_order_relaxed); }
  uint64_t waited_ns() const { return waited_ns_.load(std::memory_order_relaxed); }
  // How many nanoseconds this process has waited for each; the same length on all ranks. Empty in very large jobs.
  std::vector<uint64_t> waited_for() const;

 private:
  std::atomic<uint64_t> began_ns_ = 0;  // 0: nothing is timed. Set in MPI_Init and MPI_Finalize
  std::array<std::atomic<uint64_t>, kCollectives> times_{};
  CallSites sites_;
  Choices choices_;
  std::atomic<uint64_t> timed_ns_ = 0;           // in calls whose wait is known
  std::atomic<uint64_t> waited_ns_ = 0;          // of these
  std::atomic<uint64_t>* waited_for_ = nullptr;  // there was no memory. Never freed: calls may come until the end
  int ranks_ = 0;                                // of which it has one each
};
extern CallTimes call_times;

// What lies within: a call that comes in while this thread has one open belongs to that.
class TimedCall {
 public:
  explicit TimedCall(Collective collective, const void* caller = nullptr)
      : collective_(collective), caller_(caller), began_ns_(call_times.is_on() && !is_open() ? now_ns() : 0) {
    if (began_ns_ != 0) is_open() = true;
  }
  ~TimedCall() {
    if (began_ns_ == 0) return;
    is_open() = false;
    stop();
    call_times.add(collective_, caller_, ended_ns_ - began_ns_, wait_);
  }
  // Nothing that comes now is part of it.
  void stop() {
    if (ended_ns_ == 0) ended_ns_ = now_ns();
  }
  // Whether it is measured, and no later than that it began.
  bool includes(uint64_t ns) const { return began_ns_ != 0 && began_ns_ <= ns; }
  void note(const CallWait& wait) { wait_ = wait; }
  Collective collective() const { return collective_; }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  static bool& is_open() {
    static thread_local bool open __attribute__((tls_model("initial-exec"))) = false;
    return open;
  }
  const Collective collective_;
  const void* const caller_;
  const uint64_t began_ns_;
  uint64_t ended_ns_ = 0;
  CallWait wait_;
};

// A line for all ranks' sums, in microseconds; "" if there is nothing to tell.
std::string times_text(const TimeArray& sums, int ranks);

}  // namespace hocket::interposer
