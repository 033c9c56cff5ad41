// SPDX-License-Identifier: BSD-3-Clause
// Where the process stands between MPI_Init and MPI_Finalize, and whether a call that comes in is ours.
//
// Thread safety: any thread.
#pragma once

#include <atomic>

#include "core/settings.h"
#include "core/statistics.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

enum class Mode : int {
  kAsleep,    // before MPI_Init, after MPI_Finalize, in a child of fork: everything passes, nothing is counted
  kDisabled,  // by the user: everything passes, and is counted
  kServing,
};

namespace internal {
// Release and acquire: a job of sessions begins beside other threads' calls. In MPI_Init and MPI_Finalize the program
// itself orders it with its other calls.
inline std::atomic<Mode> mode{Mode::kAsleep};
// How deep this thread is in calls that we have passed on: what the MPI or another tool calls from in there is theirs.
inline thread_local int nesting __attribute__((tls_model("initial-exec"))) = 0;

// Written where the job begins and ends (lifetime/).
struct Job {
  Settings settings;
  uint64_t settings_digest = 0;
  int rank = 0;
  int size = 1;
  bool has_wrong_settings = false;
  bool has_hidden_comm = false;
  bool spans_nodes = false;
  bool may_be_younger = false;
  MPI_Comm world{};
  MPI_Comm hidden_comm{};
};
extern Job job;
}  // namespace internal

class NestedCall {
 public:
  NestedCall() { ++internal::nesting; }
  ~NestedCall() { --internal::nesting; }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;
};

inline Mode mode() { return internal::mode.load(std::memory_order_acquire); }
inline bool is_nested() { return internal::nesting != 0; }

// False: pass it on at once.
inline bool is_ours(Collective collective) {
  if (mode() == Mode::kServing && !is_nested()) [[likely]]
    return true;
  if (mode() == Mode::kDisabled && !is_nested()) common_counters.add(collective, Outcome::kDisabled);
  return false;
}

// The same on all ranks while the job serves.
const Settings& settings();
uint64_t settings_digest();
int world_size();
bool job_spans_nodes();
// All processes of the job: MPI_COMM_WORLD, or the hidden communicator where the program may have no MPI_COMM_WORLD,
// since it starts by MPI_Session_init.
MPI_Comm world_comm();
bool is_job_of_sessions();
// Than some communicators: sessions were open when it began.
bool may_be_younger_job();
// A duplicate of MPI_COMM_WORLD, or one like it, that the program doesn't know, on which errors are returned: inquiries
// that may end in one are made by it, and leave the program's error handlers in peace. Messages with tag 0 are never
// sent on it: a probe for one moves the MPI's other traffic.
MPI_Comm hidden_comm();
// Moves the MPI's messages.
void progress_mpi();
int rank_on_hidden_comm();
// Told on stderr already: a rank's environment asks for something that can't be understood.
bool has_wrong_settings();

// Where peers wait already for this rank, which can't take part and can't tell them: says so, and ends the job.
[[noreturn]] void end_without_memory(size_t bytes, const char* purpose);
[[noreturn]] void end_without_memory();

}  // namespace hocket::interposer
