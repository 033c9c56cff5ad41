// SPDX-License-Identifier: BSD-3-Clause
// Where ranks of several nodes end a job at the same time, launchers may wait for each other for good (PRRTE, of Open
// MPI 5, does): one after the other ends it, and as a rule the first has.
//
// Thread safety: any thread.
#pragma once

#include <ctime>

namespace hocket::interposer {

// Between telling on stderr why a job is going to end and ending it: a launcher that hears of the end drops what it has
// not passed on yet (MPICH's does), and the reason with it.
inline void let_last_words_out() {
  constexpr timespec kPause{0, 200'000'000};
  nanosleep(&kPause, nullptr);
}

// `rank`: of the job.
inline void let_others_end_first(int rank) {
  constexpr int64_t kTurns = 16, kTurnNs = 200'000'000, kSecondNs = 1'000'000'000;
  const int64_t pause_ns = rank % kTurns * kTurnNs;
  const timespec pause{pause_ns / kSecondNs, pause_ns % kSecondNs};
  nanosleep(&pause, nullptr);
}

}  // namespace hocket::interposer
