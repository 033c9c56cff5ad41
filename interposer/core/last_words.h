// SPDX-License-Identifier: BSD-3-Clause
// Where ranks of several nodes end a job at the same time, launchers may wait for each other for good (PRRTE, of Open
// MPI 5, does): one after the other ends it, and as a rule the first has. That makes it seldom, and not impossible.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace hocket::interposer {

// Between telling on stderr why a job is going to end and ending it: a launcher that hears of the end drops what it has
// not passed on yet (MPICH's does), and the reason with it.
inline void let_last_words_out() {
  constexpr timespec kPause{0, 200'000'000};
  nanosleep(&kPause, nullptr);
}

// `rank`: of the job. A launcher may need a second until no rank is left.
inline void let_others_end_first(int rank) {
  constexpr int kWhole = 5, kTurns = 16;
  constexpr long kTurnNs = 250'000'000, kSecondNs = 1'000'000'000;
  const long nanoseconds = rank < kWhole ? 0 : rank % kTurns * kTurnNs;
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += nanoseconds % kSecondNs;
  until.tv_sec += std::min(rank, kWhole) + nanoseconds / kSecondNs + until.tv_nsec / kSecondNs;
  until.tv_nsec %= kSecondNs;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace hocket::interposer
