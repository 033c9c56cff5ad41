// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent collectives: started by hocket where its ranks share memory, or where NIC engines then
// carry them out by themselves, and passed through otherwise.
//
// What decides is the same on every rank, as for blocking calls (decision.h). A non-blocking call waits for no other
// rank in its beginning, so that it can only take a communicator over; a persistent one may wait in its initialisation
// (MPI 4.1, 6.13).
//
// Thread safety: as decision.h.
#pragma once

#include <functional>
#include <new>
#include <optional>
#include <span>

#include "shim/collectives/broadcast.h"
#include "shim/collectives/movement.h"
#include "shim/collectives/reductions.h"
#include "shim/requests/started_call.h"

namespace hocket::interposer {

// What is to be started: hocket's arguments. `mpi_error`: packing has failed, which has been raised.
struct Start {
  Arguments arguments;
  bool is_persistent;
  bool is_blocking = false;  // the program waits for its end at once
  int mpi_error = MPI_SUCCESS;
};

// HOCKET_ERR_NOT_SUPPORTED: not one that hocket starts, on all ranks.
hocket_status_t prepare_start(const BarrierCall& call, const Decision& decision, const BarrierCall::Findings& findings,
                              StartedCall& started, Start& start);
hocket_status_t prepare_start(const BroadcastCall& call, const Decision& decision,
                              const BroadcastCall::Findings& findings, StartedCall& started, Start& start);
hocket_status_t prepare_start(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                              StartedCall& started, Start& start);
hocket_status_t prepare_start(const MoveCall& call, const Decision& decision, const MoveCall::Findings& findings,
                              StartedCall& started, Start& start);

// What has been noted in the call's copies, if anything: packs it, and keeps what will be needed again.
hocket_status_t pack_first(const Decision& decision, MPI_Comm comm, StartedCall& started, Start& start);

// An operation that only the MPI can run may run in no thread but the program's.
template <typename Call, typename Findings>
bool is_own_operation(const Call&, const Findings&) {
  return false;
}
inline bool is_own_operation(const ReduceCall&, const ReduceCall::Findings& findings) {
  return findings.operation.by == Operation::By::kMpi;
}

// Whether NIC engines may end calls of a collective by themselves.
inline bool may_go_by_engines(Collective collective) {
  return collective == Collective::kBarrier || collective == Collective::kBroadcast ||
         collective == Collective::kReduce || collective == Collective::kAllreduce;
}

struct Begin {
  bool may_wait;  // for all ranks, which call alike; otherwise the communicator may come to be ready in decide()
  bool may_go_by_engines;
};
// Up to where the arguments of the call come in: kCarriedOut, kSingleRank, or why not.
Decision find_starter(MPI_Comm comm, Begin begin);

// What the program gets of it, by `started` where it is one. kNotByEngines: nothing has been started, on any rank.
Outcome start_now(Decision& decision, Start& start, StartedCall& started, int& error);
// `prepare`: what else is to be done where the call has its track.
Outcome plan_now(Decision& decision, Start& start, StartedCall& started, int& error,
                 const std::function<void(PersistentHome&)>& prepare = {});
// MPI_Start of one that is inactive.
int start_again(StartedCall& call);

// nullptr: the error has been raised.
StartedCall* take_for(const Decision& decision, Collective form, MPI_Comm comm, int& error);

// --- of a communicator of one rank: on the spot ----------------------------------------------------------------------

// Whether the MPI's own persistent call is faster, and right.
bool is_quick_in_mpi(Collective collective, const std::optional<OwnCopy>& copy);
// What has been done already. The MPI error of the call.
int settle_alone(const Decision& decision, MPI_Comm comm, MPI_Request* request);
// What is to be done in each MPI_Start. The MPI error of the call.
int plan_alone(const Decision& decision, MPI_Comm comm, std::span<const OwnCopy> copies, MPI_Request* request);

// As serve_start().
template <typename Call>
bool serve_alone(const Call& call, Decision& decision, const typename Call::Findings& findings, bool is_persistent,
                 MPI_Request* request, int& error) {
  if (!is_persistent) {
    error = carry_out(call, decision, findings);
    if (error == MPI_SUCCESS) error = settle_alone(decision, call.comm, request);
    return true;
  }
  const std::optional<OwnCopy> copy = own_copy(call, findings);
  if (is_quick_in_mpi(call.collective, copy)) {
    decision.why = Outcome::kMpisOwn;
    return false;
  }
  error = plan_alone(decision, call.comm, copy ? std::span(&*copy, 1) : std::span<const OwnCopy>(), request);
  return true;
}

// As serve() of decision.h, counted as the form of the collective. True: the program gets `error`.
template <typename Call>
bool serve_start(const Call& call, Decision& decision, bool is_persistent, MPI_Request* request, int& error) {
  const Collective form = decision.form;
  typename Call::Findings findings;
  decision =
      find_starter(call.comm, {.may_wait = is_persistent, .may_go_by_engines = may_go_by_engines(call.collective)});
  if (is_carried_out(decision.why)) decision = decide(call, findings, CallForm::kStarted);
  decision.form = form;
  if (decision.why == Outcome::kCarriedOut && decision.communicator->begins == Begins::kNowhere)
    decision.why = Outcome::kNotByEngines;
  if (request == nullptr) decision.why = Outcome::kArguments;
  if (decision.why == Outcome::kSingleRank) return serve_alone(call, decision, findings, is_persistent, request, error);
  if (decision.why != Outcome::kCarriedOut) return false;
  const c_api::ByMpi* const by_mpi = decision.communicator->by_mpi.started.get();
  if (is_left_to_mpi(by_mpi, call, *decision.communicator, findings)) decision.why = Outcome::kMpisOwn;
  if (is_own_operation(call, findings)) decision.why = Outcome::kOwnOperation;
  if (decision.why != Outcome::kCarriedOut) return false;
  StartedCall* const started = take_for(decision, form, call.comm, error);
  if (started == nullptr) return true;
  Start start;
  start.is_persistent = is_persistent;
  const hocket_status_t status = prepare_start(call, decision, findings, *started, start);
  if (status == HOCKET_OK) {
    decision.why =
        is_persistent ? plan_now(decision, start, *started, error) : start_now(decision, start, *started, error);
  } else if (status == HOCKET_ERR_NOT_SUPPORTED) {
    decision.why = Outcome::kNotByEngines;
  } else {
    error = start.mpi_error != MPI_SUCCESS ? give_up(decision, call.collective, start.mpi_error, kPackingFailed)
                                           : raise_status(decision, call.collective, call.comm, status);
    decision.why = Outcome::kFailed;
  }
  if (decision.why == Outcome::kCarriedOut) {
    *request = started->handle;
    error = MPI_SUCCESS;
    return true;
  }
  give_back(*started);
  return decision.why == Outcome::kFailed;
}

template <typename Call, typename PassThrough>
int serve_form(const Call& call, Collective form, bool is_persistent, MPI_Request* request, const void* caller,
               const PassThrough& pass_through) {
  if (!is_ours(form)) [[unlikely]]
    return pass_through();
  const InCollective in(form, call.comm);
  const TimedCall timed(form, caller);
  Decision decision;
  decision.form = form;
  int error = MPI_SUCCESS;
  try {
    if (serve_start(call, decision, is_persistent, request, error)) return error;
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
  count(decision, form, decision.why);
  const NestedCall nested;
  error = pass_through();
  if (!is_persistent && error == MPI_SUCCESS) note_started_by_mpi(decision.communicator, form, call.comm, request);
  return error;
}

template <typename Call, typename PassThrough>
int begin(const Call& call, MPI_Request* request, const void* caller, const PassThrough& pass_through) {
  return serve_form(call, nonblocking(call.collective), false, request, caller, pass_through);
}
template <typename Call, typename PassThrough>
int initialise(const Call& call, MPI_Request* request, const void* caller, const PassThrough& pass_through) {
  return serve_form(call, persistent(call.collective), true, request, caller, pass_through);
}

}  // namespace hocket::interposer
