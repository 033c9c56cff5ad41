// SPDX-License-Identifier: BSD-3-Clause
// A rank whose own block doesn't fit: what it sends to itself has another length than what it receives from itself. The
// MPI makes an error of it on that rank, if any, and serves the others; so peers must not wait here for a call that
// this rank has passed through alone.
//
// Thread safety: as decision.h.
#pragma once

#include "shim/collectives/movement.h"

namespace hocket::interposer {

// Serves the peers as if it fitted, moves as much of the block as both sides have, and raises MPI_ERR_TRUNCATE where
// more is sent than received. Where peers depend on which of the two is right, they hear of an error, too.
int carry_out_misfit(const MoveCall& call, const Decision& decision, const MoveCall::Findings& findings);

// The peers' blocks without this rank's, which lies there among those that are sent, and there among those received.
struct WithoutOwn {
  MoveCall::Findings findings;
  int sent, received;
};
// Not of MPI_Allgather, MPI_Alltoall and MPI_Allgatherv.
WithoutOwn leave_own_out(const MoveCall& call, int rank, const MoveCall::Findings& findings);
// An MPI error, or MPI_SUCCESS.
int copy_own(const MoveCall& call, const MoveCall::Findings& findings, const WithoutOwn& without);

}  // namespace hocket::interposer
