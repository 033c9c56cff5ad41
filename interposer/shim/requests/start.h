// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives: started by hocket where NIC engines then carry them out by themselves, passed through
// otherwise.
//
// What decides is the same on every rank, as for blocking calls (decision.h); and nothing here waits for another rank.
// So a communicator isn't set up by such a call, and what needs a rank's help on its way, between ranks of one node or
// by messages, is the MPI's, which moves it in all of its functions.
//
// Thread safety: as decision.h.
#pragma once

#include <list>
#include <new>

#include "shim/collectives/broadcast.h"
#include "shim/collectives/reductions.h"
#include "shim/requests/pending.h"

namespace hocket::interposer {

// HOCKET_ERR_NOT_SUPPORTED: it is not one of those. `pending` gets the request, and what it needs when it is over.
hocket_status_t start(const BarrierCall& call, const Decision& decision, const BarrierCall::Findings&,
                      PendingCall& pending);
hocket_status_t start(const BroadcastCall& call, const Decision& decision, const BroadcastCall::Findings& findings,
                      PendingCall& pending);
hocket_status_t start(const ReduceCall& call, const Decision& decision, const ReduceCall::Findings& findings,
                      PendingCall& pending);

// Up to where the arguments of the call come in: kCarriedOut, or why not.
Decision find_starter(MPI_Comm comm);
// After start(): what the program gets. False: nothing has been started.
bool has_started(const Decision& decision, hocket_status_t status, std::list<PendingCall>& one, MPI_Request* request,
                 int& error);

// As serve() of decision.h, counted under a collective of its own.
template <typename Call, typename PassThrough>
int begin(const Call& call, Collective collective, MPI_Request* request, const PassThrough& pass_through) {
  if (!is_ours(collective)) [[unlikely]]
    return pass_through();
  const TimedCall timed(collective);
  typename Call::Findings findings;
  Decision decision;
  try {
    decision = find_starter(call.comm);
    if (decision.why == Outcome::kCarriedOut) decision = decide(call, findings);
    if (request == nullptr) decision.why = Outcome::kArguments;
    if (decision.why == Outcome::kCarriedOut) {
      std::list<PendingCall> one(1);
      one.front().collective = collective;
      one.front().communicator = decision.communicator;
      one.front().comm = call.comm;
      // Relaxed: the program orders this thread's call with others on the communicator, whose BesidePending looks here.
      decision.communicator->pending.fetch_add(1, std::memory_order_relaxed);
      const hocket_status_t status = start(call, decision, findings, one.front());
      int error = MPI_SUCCESS;
      if (has_started(decision, status, one, request, error)) return error;
      decision.why = Outcome::kNotByEngines;
    }
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
  count(decision, collective, decision.why);
  const NestedCall nested;
  return pass_through();
}

}  // namespace hocket::interposer
