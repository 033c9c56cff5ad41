// SPDX-License-Identifier: BSD-3-Clause
// Communicators with non-blocking calls under way, and who moves these: the program's threads whenever they are in the
// MPI or in hocket, and a thread of hocket's where they are not, as they compute or wait in something that hocket
// doesn't see. That thread never calls the MPI. It sleeps unless a call is under way that nobody looks after.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/communicator.h"

namespace hocket::interposer {

// HOCKET_PROGRESS: who moves calls while the program is elsewhere.
enum class ProgressBy : int32_t {
  kChoice,  // the thread: at once where there is a core for it, otherwise when nobody else has looked for long
  kCalls,  // none but the program's calls: for MPIs whose waits all call hocket, others carry such calls out themselves
  kThread,  // the thread, as often as helps, whoever wants the core
};

struct ProgressPolicy {
  ProgressBy by = ProgressBy::kChoice;
  bool is_hooked = false;        // all waits in the MPI come to advance_in_mpi()
  bool has_spare_cores = false;  // one more a rank, on each machine of the job
  bool share_cores = false;      // ranks of the job do, somewhere
};

// In MPI_Init and MPI_Finalize; in a forked child, too, which has no such thread.
void begin_progress(const ProgressPolicy& policy);
void end_progress();
void forget_progress_thread();

// Whether hocket may carry out calls that ranks have to move. The same on all ranks.
bool may_move_calls();

namespace internal {
// How many communicators are watched. Relaxed: a thread that has started a call sees its own, and who waits for
// another's request has it by the program's own synchronisation.
inline std::atomic<uint32_t> watched{0};
// Goes up with each look of the program's threads. Relaxed, and not counted exactly: the thread only sees it change.
inline std::atomic<uint32_t> looks_made{0};
}  // namespace internal

// While false, no call is under way.
inline bool has_under_way() { return internal::watched.load(std::memory_order_relaxed) != 0; }

// A call has started on it that isn't over. `is_long`: the thread had better be awake.
void watch(Communicator& communicator, bool is_long);
// Before it goes.
void stop_watching(Communicator& communicator);

// Moves all, in a thread of the program.
void advance_under_way();
// The same within the MPI's own progress.
void advance_in_mpi();

}  // namespace hocket::interposer
