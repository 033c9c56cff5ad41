// SPDX-License-Identifier: BSD-3-Clause
// How long this process was in collective calls, carried out or passed through, and where in the program: part of what
// HOCKET_STATS=1 prints.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "core/report/call_sites.h"
#include "core/statistics.h"

namespace hocket::interposer {

// Nanoseconds by collective; the last is the whole job's, from MPI_Init to MPI_Finalize.
using TimeArray = std::array<uint64_t, kCollectives + 1>;

class CallTimes {
 public:
  void begin_job() { began_ns_ = now_ns(); }
  bool is_on() const { return began_ns_ != 0; }
  // `caller`: the address to which the call returns; nullptr: not known.
  void add(Collective collective, const void* caller, uint64_t ns);
  // Nothing is timed any more.
  TimeArray end_job();
  const CallSites& sites() const { return sites_; }

 private:
  uint64_t began_ns_ = 0;  // 0: nothing is timed. Set in MPI_Init and MPI_Finalize
  std::array<std::atomic<uint64_t>, kCollectives> times_{};
  CallSites sites_;
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
    call_times.add(collective_, caller_, now_ns() - began_ns_);
  }
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
};

// A line for all ranks' sums; "" if there is nothing to tell.
std::string times_text(const TimeArray& sums, int ranks);

}  // namespace hocket::interposer
