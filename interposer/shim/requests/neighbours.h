// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours (MPI_Neighbor_*), on communicators with a topology whose ranks share memory. All three
// forms are started alike; a blocking one waits for its end.
//
// The neighbourhood is made in the first call (shim/communicators/neighbour_graph.h). Blocking and persistent ones set
// the communicator up, in which all ranks wait for each other once: these are collectives of all ranks of the
// communicator, and MPI lets any collective do that.
//
// Thread safety: as decision.h.
#pragma once

#include "shim/buffers/sides.h"
#include "shim/requests/start.h"

namespace hocket::interposer {

struct NeighbourCall {
  Collective collective;
  Side send;     // of MPI_Neighbor_allgather and -v one block, else one for each destination
  Side receive;  // a block of each source
  MPI_Comm comm;
};

enum class NeighbourForm : uint8_t { kBlocking, kStarted, kPersistent };

// True: the program gets `error`. False: it is the MPI's, for the reason in the decision.
bool serve_among_neighbours(const NeighbourCall& call, NeighbourForm form, Decision& decision, MPI_Request* request,
                            int& error);

template <typename PassThrough>
int serve_neighbours(const NeighbourCall& call, NeighbourForm form, MPI_Request* request, const void* caller,
                     const PassThrough& pass_through) {
  constexpr Collective kFirst[] = {Collective::kNeighborAllgather, Collective::kIneighborAllgather,
                                   Collective::kNeighborAllgatherInit};
  const Collective counted = shifted_by_neighbours(call.collective, kFirst[static_cast<int>(form)]);
  if (!is_ours(counted)) [[unlikely]]
    return pass_through();
  const InCollective in(counted, call.comm);
  const TimedCall timed(counted, caller);
  Decision decision;
  decision.form = counted;
  int error = MPI_SUCCESS;
  try {
    if (serve_among_neighbours(call, form, decision, request, error)) return error;
  } catch (const std::bad_alloc&) {
    end_without_memory();
  }
  count(decision, counted, decision.why);
  if (form == NeighbourForm::kBlocking) note_left_to_mpi(decision.communicator, counted, call.comm);
  const TracedPass traced(counted);
  const NestedCall nested;
  return form == NeighbourForm::kBlocking ? wait_in_mpi(pass_through) : pass_through();
}

}  // namespace hocket::interposer
