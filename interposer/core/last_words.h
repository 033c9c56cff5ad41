// SPDX-License-Identifier: BSD-3-Clause
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

}  // namespace hocket::interposer
