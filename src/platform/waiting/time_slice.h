// SPDX-License-Identifier: BSD-3-Clause
// The length of time slice that a thread asks the scheduler for.
//
// A thread that asks for a short one may take the core from a thread in the middle of a long one when it is woken, and
// comes sooner after it has yielded; its share of the core stays the same. Linux 6.12 and later, for threads of the
// ordinary policy (sched_setattr(2)); no privilege is needed.
//
// Thread safety: any thread, each for itself.
#pragma once

#include <cstdint>

namespace hocket::platform {

// False where the kernel or the thread's policy has no such thing; then nothing has changed. A thread whose slice is
// short already keeps it; shorter than 100 us none becomes. Threads and processes that this one makes inherit it. (The
// flag that would prevent this, SCHED_FLAG_RESET_ON_FORK, can't be taken back without privilege, and would stand in
// the way of the program's own sched_setscheduler.)
bool shorten_time_slice(int64_t slice_ns);

// Back to what the calling thread had before it was shortened.
void restore_time_slice();

// Of the calling thread, in nanoseconds; 0 where the kernel doesn't tell.
int64_t time_slice_ns();

}  // namespace hocket::platform
