// SPDX-License-Identifier: BSD-3-Clause
// What all collectives share: whether hocket carries a call out, and how a call ends.
//
// A call is a struct with the arguments and these members: `collective`, `comm`, a type Findings, and the functions
// decide(), rule_key_of() and carry_out() beside it. What decides is the same on every rank: the communicator and its
// history, the bytes of the signature, the operation and its type. Only a call whose arguments look wrong is passed
// through by one rank alone, for the MPI to raise its error.
//
// Thread safety: different communicators by different threads at the same time, one by one thread, as MPI demands.
#pragma once

#include <new>

#include "core/call_times.h"
#include "core/communicator.h"
#include "core/mpi_wait.h"
#include "core/wake.h"
#include "shim/communicators/communicators.h"
#include "shim/job/job.h"
#include "shim/job/traced.h"
#include "shim/job/whereabouts.h"
#include "shim/types/types.h"

namespace hocket::interposer {

// Carried out here, or passed through because of `why`.
struct Decision {
  Outcome why = Outcome::kArguments;
  // Of a call that is started: what it is counted and named as. kBarrier: as what it is.
  Collective form = Collective::kBarrier;
  Communicator* communicator = nullptr;
};

inline Collective named(const Decision& decision, Collective collective) {
  return decision.form == Collective::kBarrier ? collective : decision.form;
}

// What tables look a call of one communicator up by: bytes as they count them, alike on all ranks.
struct RuleKey {
  schedule::Collective collective;
  uint64_t bytes;
};

// A call that is started waits for nobody.
enum class CallForm : uint8_t { kBlocking, kStarted };

// Finds the communicator. False: that is the end of it, for the reason in the decision.
inline bool find_open_communicator(MPI_Comm comm, Decision& decision) {
  decision.communicator = find_communicator(comm);
  if (decision.communicator == nullptr) return false;
  if (decision.communicator->phase != Phase::kRefused) [[likely]]
    return true;
  decision.why = decision.communicator->refusal;
  return false;
}

// The last check of a valid call: counts the call, and sets the communicator up if it is due and all ranks wait for
// each other in this call anyway, as `waiting()` says. A root that broadcasts may not be made to wait for receivers
// that first expect a message of it.
template <typename GetWaiting>
Outcome readiness(Communicator& communicator, MPI_Comm comm, CallForm form, const GetWaiting& waiting) {
  if (is_revoked(comm)) [[unlikely]]
    return Outcome::kFreed;
  if (communicator.phase == Phase::kReady) [[likely]]
    return Outcome::kCarriedOut;
  return prepare_communicator(communicator, comm, form == CallForm::kStarted ? Waiting::kNotAll : waiting());
}

// Absolute addresses in derived types are relative to MPI_BOTTOM, which is NULL; at NULL itself there is nothing.
inline bool is_buffer(const void* buffer, bool is_empty, const TypeFacts& facts) {
  if (buffer == MPI_IN_PLACE) return false;
  return buffer != nullptr || is_empty || facts.size == 0 || facts.true_lb != 0;
}

// hocket has failed, and told why: the call ends as one in which the MPI finds an error.
int raise_failure(const Decision& decision, Collective collective, MPI_Comm comm);

// hocket failed: the user hears of it by the communicator's error handler, as of any other failure.
int raise_status(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status);

// How a call that was carried out ends. An error of the MPI, in packing or in the program's operation, has been raised
// by then; peers were served first.
inline int answer(const Decision& decision, Collective collective, MPI_Comm comm, hocket_status_t status,
                  int mpi_error = MPI_SUCCESS) {
  if (status != HOCKET_OK) [[unlikely]]
    return raise_status(decision, collective, comm, status);
  decision.communicator->counters.add(named(decision, collective), decision.why);
  return mpi_error;
}

// For a rank that can't give what its peers wait for, or has given something wrong: they hear of it by an error, in
// this call where they need it and in all that follow on the communicator. `mpi_error` has been raised here already.
int give_up(const Decision& decision, Collective collective, int mpi_error, const char* what_failed);

// Of a communicator of one rank: what is to be copied, if anything.
template <typename Call, typename Copy>
inline int copy_alone(const Call& call, const Decision& decision, const Copy& copy) {
  const int error = copy ? carry_out(*copy, call.comm) : MPI_SUCCESS;
  return answer(decision, call.collective, call.comm, HOCKET_OK, error);
}

inline bool is_carried_out(Outcome outcome) {
  return outcome == Outcome::kCarriedOut || outcome == Outcome::kSingleRank;
}

void count(const Decision& decision, Collective collective, Outcome outcome);

// Whether the MPI's own algorithm was chosen for the call, which hocket could carry out. `by_mpi`: the communicator's.
template <typename Call>
bool is_left_to_mpi(const c_api::ByMpi* by_mpi, const Call& call, const Communicator& communicator,
                    const typename Call::Findings& findings) {
  if (by_mpi == nullptr) [[likely]]
    return false;
  const RuleKey question = rule_key_of(call, communicator, findings);
  return by_mpi->chosen(question.collective, question.bytes);
}

// `pass_through` passes the call unchanged to the MPI underneath.
template <typename Call, typename PassThrough>
int serve_untimed(const Call& call, const PassThrough& pass_through) {
  if (!is_ours(call.collective)) [[unlikely]]
    return pass_through();
  typename Call::Findings findings;
  Decision decision;
  try {
    decision = decide(call, findings, CallForm::kBlocking);
    if (is_carried_out(decision.why)) [[likely]] {
      const c_api::ByMpi* const by_mpi = decision.communicator->by_mpi.blocking.get();
      if (!is_left_to_mpi(by_mpi, call, *decision.communicator, findings)) [[likely]] {
        const BesidePending beside(*decision.communicator);
        return carry_out(call, decision, findings);
      }
      decision.why = Outcome::kMpisOwn;
    }
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
  if (decision.why == Outcome::kFailed) return raise_failure(decision, call.collective, call.comm);
  count(decision, call.collective, decision.why);
  note_left_to_mpi(decision.communicator, call.collective, call.comm);
  const TracedPass traced(call.collective);
  ring_waiting();
  const NestedCall nested;
  return wait_in_mpi(pass_through);
}

// After a call on `comm`: what is known of how long it waited, and for whom.
void note_wait(TimedCall& timed, MPI_Comm comm);

template <typename Call, typename PassThrough>
__attribute__((noinline)) int serve_timed(const Call& call, const void* caller, const PassThrough& pass_through) {
  TimedCall timed(call.collective, caller);
  const int error = serve_untimed(call, pass_through);
  note_wait(timed, call.comm);
  return error;
}

// `caller`: the address to which the function of MPI returns.
template <typename Call, typename PassThrough>
int serve(const Call& call, const void* caller, const PassThrough& pass_through) {
  const InCollective in(call.collective, call.comm);
  if (call_times.is_on()) [[unlikely]]
    return serve_timed(call, caller, pass_through);
  return serve_untimed(call, pass_through);
}

}  // namespace hocket::interposer
