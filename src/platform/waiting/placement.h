// SPDX-License-Identifier: BSD-3-Clause
// Keeping ranks that have a core each on different cores.
//
// The kernel wakes a sleeper on its waker's core if it takes the sleeper's own for busy, which under a hypervisor it
// does of idle ones as well. Two ranks then share a core until the load balancer acts, which takes a tenth of a second.
// So a rank keeps away from its peers' cores while it sleeps, and moves if it shares one nevertheless.
//
// Thread safety: any thread, each for itself.
#pragma once

#include <sched.h>

#include "platform/waiting/core_marks.h"
#include "platform/waiting/turns.h"

namespace hocket::platform {

// Moves the calling thread away from a core on which a peer was last, to an allowed core without any: to `preferred` if
// that is one. Its affinity mask stays as it is. Returns false, and the thread stays, if there is no such core or the
// kernel refuses. Costs three system calls and a migration, some ten microseconds.
bool move_away(const Turns& turns, int preferred);
bool move_away(CoreMarks& marks);

// The same, to the next allowed core, where it is unknown on which cores peers are.
bool leave_core();

// As long as it lives, the kernel does not wake the calling thread on a core on which a peer was last, but for the one
// where it is now: the affinity mask has no others. Costs up to four system calls.
class AvoidPeers {
 public:
  // nullptr: without effect.
  explicit AvoidPeers(const Turns* turns);
  // Where it is unknown on which cores peers are.
  struct AllCoresButOwn {};
  explicit AvoidPeers(AllCoresButOwn cores);
  // Restores the mask, unless another process has changed it meanwhile.
  ~AvoidPeers();
  AvoidPeers(const AvoidPeers&) = delete;
  AvoidPeers& operator=(const AvoidPeers&) = delete;

 private:
  void narrow();

  cpu_set_t allowed_;
  cpu_set_t narrowed_;
  bool is_narrowed_ = false;
};

}  // namespace hocket::platform
