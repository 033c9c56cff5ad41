// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move blocks between ranks: a call for serve() of decision.h, which tells of errors, too.
//
// Sizes decide nothing here. hocket gets bytes: a block of a uniform side has the same number of them on every rank,
// whatever its type is made of; counts that differ from block to block it never looks at when it chooses.
//
// Thread safety: as decision.h.
#pragma once

#include <optional>

#include "shim/buffers/own_copy.h"
#include "shim/buffers/sides.h"
#include "shim/collectives/arguments.h"
#include "shim/collectives/decision.h"

namespace hocket::interposer {

// MPI_Gather, MPI_Gatherv, MPI_Scatter, MPI_Scatterv, MPI_Allgather, MPI_Allgatherv, MPI_Alltoall, MPI_Alltoallv,
// MPI_Alltoallw.
struct MoveCall {
  Collective collective;
  Side send;
  Side receive;
  int root;  // where there is one
  MPI_Comm comm;

  struct Findings {
    Blocks send, receive;  // of the side that is in place, or means nothing on this rank, no blocks
    bool is_in_place = false;
    bool is_misfit = false;  // this rank's own block has another length where it is sent than where it is received
  };
};

// As hocket's call, with the sides as they are or with copies of them.
hocket_status_t fill(const MoveCall& call, const Decision& decision, const Blocks& send, const Blocks& receive,
                     const MoveCall::Findings& findings, Arguments& arguments);
// Of gathers and scatters, and of allgathers and exchanges: whose blocks a side holds that has this rank's, too.
bool is_exchange(Collective collective);
// What is to be done of a single rank.
std::optional<OwnCopy> own_copy(const MoveCall& call, const MoveCall::Findings& findings);

Decision decide(const MoveCall& call, MoveCall::Findings& findings, CallForm form);
RuleKey rule_key_of(const MoveCall& call, const Communicator& communicator, const MoveCall::Findings& findings);
int carry_out(const MoveCall& call, const Decision& decision, const MoveCall::Findings& findings);

}  // namespace hocket::interposer
