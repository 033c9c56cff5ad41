// SPDX-License-Identifier: BSD-3-Clause
// From an MPI communicator's handle to what hocket knows of it. The MPI keeps the pointer, as an attribute that is not
// copied to duplicates; each thread remembers the last few.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/communicator.h"
#include "shim/job/job.h"
#include "shim/underneath/handle_map.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

namespace internal {

struct RememberedCommunicator {
  MPI_Comm handle;
  uint64_t epoch;  // valid while it is the current one; 0: empty
  Communicator* communicator;
};
inline constexpr int kRemembered = 8;
inline thread_local RememberedCommunicator remembered[kRemembered] __attribute__((tls_model("initial-exec"))) = {};
// Counts the communicators that have gone, as their handles may be used again. Relaxed: a thread that gets a new
// communicator's handle from another has been synchronised with it by the program.
inline std::atomic<uint64_t> epoch{1};

Communicator* look_up_communicator(MPI_Comm handle, RememberedCommunicator& place);

}  // namespace internal

// nullptr: not a communicator. The first look-up takes it into the books.
inline Communicator* find_communicator(MPI_Comm handle) {
  internal::RememberedCommunicator& place = internal::remembered[handle_hash(handle_bits(handle)) >> 61];
  if (place.handle == handle && place.epoch == internal::epoch.load(std::memory_order_relaxed)) [[likely]] {
    return place.communicator;
  }
  return internal::look_up_communicator(handle, place);
}

// nullptr: it isn't in the books.
Communicator* known_communicator(MPI_Comm handle);

// Whether all ranks wait for each other in a call. The first two are the same on every rank.
// kThisRank and kNotThisRank are each rank's own answer; either makes all ranks ask each other.
enum class Waiting : uint8_t { kNotAll, kAll, kThisRank, kNotThisRank };

// The program has given it another name, which sentences use.
void rename_communicator(MPI_Comm handle, const char* name);

// With the settings of the job.
uint64_t calls_before_takeover();
// In which call on it, at the earliest, a communicator is set up: alike in all jobs that its ranks are of.
inline int64_t setup_calls_of(const Communicator& communicator) {
  return communicator.counting.is_of_several_jobs ? 1 : settings().setup_calls;
}
// core's prepare() with the exchange over this communicator.
Outcome prepare_communicator(Communicator& communicator, MPI_Comm handle, Waiting waiting);

// -1 where it is no rank of this MPI_COMM_WORLD. Wrong arguments are the MPI's to find, in the call that they came
// with.
int world_rank_of(MPI_Comm handle, int rank);
// The same of a window's.
int world_rank_in(MPI_Win window, int rank);

// A revoked communicator is the MPI's, which raises the error. MPICH can't be asked.
inline bool is_revoked(MPI_Comm comm) {
  const IsRevoked ask = next_pmpi().Comm_is_revoked;
  int revoked = 0;
  return ask != nullptr && ask(comm, &revoked) == MPI_SUCCESS && revoked != 0;
}

// Of each of its ranks, where it is in this MPI_COMM_WORLD, or MPI_UNDEFINED. False: the MPI fails.
bool find_in_world(MPI_Comm handle, std::vector<int>& in_world);

// Between MPI_Init and MPI_Finalize.
bool watch_communicators();
void unwatch_communicators();

}  // namespace hocket::interposer
