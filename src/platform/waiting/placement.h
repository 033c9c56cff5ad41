// SPDX-License-Identifier: BSD-3-Clause
// Moving a rank to another core.
//
// The kernel wakes a sleeper on its waker's core if it takes the sleeper's own for busy, which under a hypervisor it
// does of idle ones as well. Two ranks then share a core until the load balancer acts, which takes a tenth of a second.
//
// Thread safety: any thread, each for itself.
#pragma once

#include "platform/waiting/turns.h"

namespace hocket::platform {

// Moves the calling thread to a core of its affinity mask, which stays as it is. Returns false, and the thread stays, if
// the core is not in the mask or the kernel refuses. Costs three system calls and a migration, some ten microseconds.
bool move_to(int core);

// Moves the calling thread away from a core on which a peer was last, to an allowed core without any: to `preferred` if
// that is one. Otherwise as move_to().
bool move_away(const Turns& turns, int preferred);

}  // namespace hocket::platform
