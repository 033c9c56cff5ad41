// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_wait.h"

#include <sched.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"

namespace hocket::interposer {
namespace {

// How long a thread sleeps between looks: a small part of the time that it has waited, since nothing wakes it.
constexpr int64_t kSleepsPerWait = 32;
constexpr int64_t kShortestSleepNs = 50'000;
constexpr int64_t kLongestSleepNs = 1'000'000;
// A look costs some ten nanoseconds, reading the clock several times that.
constexpr uint32_t kLooksBetweenClocks = 16;

}  // namespace

void begin_mpi_waits(const MpiWaitPolicy& policy) {
  internal::wait_policy = policy;
  internal::looks.store(policy.looks, std::memory_order_relaxed);
}

void end_mpi_waits() { internal::looks.store(Looks::kByMpi, std::memory_order_relaxed); }

void MpiPause::pause() {
  const uint32_t look = looks_++;
  if (look == 0) {
    sleeps_ = false;
    began_ns_ = 0;
  }
  if (sleeps_ || look % kLooksBetweenClocks == kLooksBetweenClocks - 1) sleep_if_late();
  if (!sleeps_ && look >= internal::wait_policy.looks_before_yield && internal::wait_policy.yields) sched_yield();
}

void MpiPause::sleep_if_late() {
  const MpiWaitPolicy& policy = internal::wait_policy;
  const auto now = static_cast<int64_t>(now_ns());
  if (began_ns_ == 0) began_ns_ = now;
  const int64_t waited_ns = now - began_ns_;
  sleeps_ = policy.sleeps && waited_ns >= policy.awake_ns;
  if (!sleeps_) return;
  const timespec time{0, std::clamp(waited_ns / kSleepsPerWait, kShortestSleepNs, kLongestSleepNs)};
  nanosleep(&time, nullptr);
}

}  // namespace hocket::interposer
