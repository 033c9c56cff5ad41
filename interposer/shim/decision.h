// SPDX-License-Identifier: BSD-3-Clause
// What all collectives share: whether hocket carries a call out, and how a call ends.
//
// A call is a struct with the arguments and these members: `collective`, `comm`, a type Findings, and the functions
// decide() and carry_out() beside it. What decides is the same on every rank: the communicator and its history, the
// bytes of the signature, the operation and its type. Only a call whose arguments look wrong is handed on by one rank
// alone, for the MPI to raise its error.
//
// Thread safety: different communicators by different threads at the same time, one by one thread, as MPI demands.
#pragma once

#include "core/communicator.h"
#include "shim/communicators.h"
#include "shim/job.h"
#include "shim/types.h"

namespace hocket::interposer {

// Carried out here, or handed on because of `why`.
struct Decision {
  Outcome why = Outcome::kArguments;
  Communicator* communicator = nullptr;
};

// Finds the communicator. False: that is the end of it, for the reason in the decision.
bool find_open_communicator(MPI_Comm comm, Decision& decision);

// The last step, when everything about the call is in order: it counts, and may be the one that sets up.
Outcome readiness(Communicator& communicator, MPI_Comm comm);

// Absolute addresses in derived types are relative to MPI_BOTTOM, which is NULL; predefined ones can't be there.
inline bool is_buffer(const void* buffer, bool is_empty, const TypeFacts& facts) {
  if (buffer == MPI_IN_PLACE) return false;
  return buffer != nullptr || is_empty || !facts.is_named;
}

// hocket has failed, and told why: the call ends as one in which the MPI finds an error.
int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm);

// How a call that was carried out ends. An error of the MPI, in packing or in the program's operation, has been raised
// by then; peers were served first.
int answer(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status,
           int mpi_error = MPI_SUCCESS);

// Where nobody waits for this rank.
int raise_no_memory(MPI_Comm comm);

inline bool is_carried_out(Outcome outcome) {
  return outcome == Outcome::kCarriedOut || outcome == Outcome::kSingleRank;
}

void count(const Decision& decision, Collective collective, Outcome outcome);

// `hand_on` passes the call unchanged to the MPI underneath.
template <typename Call, typename HandOn>
int serve(const Call& call, const HandOn& hand_on) {
  if (!is_ours(call.collective)) [[unlikely]]
    return hand_on();
  typename Call::Findings findings;
  const Decision decision = decide(call, findings);
  if (is_carried_out(decision.why)) [[likely]]
    return carry_out(call, decision, findings);
  if (decision.why == Outcome::kFailed) return raise_failure(decision, call.collective, call.comm);
  count(decision, call.collective, decision.why);
  const NestedCall nested;
  return hand_on();
}

}  // namespace hocket::interposer
