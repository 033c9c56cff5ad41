// SPDX-License-Identifier: BSD-3-Clause
// A program may refer weakly to functions such as MPI_Bcast_c, and then find ours although its MPI has none: such a
// call is passed through to the function with int, if its numbers fit, or ends with MPI_ERR_COUNT.
//
// Thread safety: as of the functions themselves.
#pragma once

#include "shim/collectives/broadcast.h"
#include "shim/collectives/movement.h"
#include "shim/collectives/reductions.h"

namespace hocket::interposer {

// `next`: the function with int, under one of both names. One for each form of a function: Allreduce stands for all
// that take what it takes, Gather for Scatter too, Allgather for Alltoall.
int pass_through_narrowed(decltype(&PMPI_Bcast) next, const BroadcastCall& call);
int pass_through_narrowed(decltype(&PMPI_Gather) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Gatherv) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Scatterv) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Allgather) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Allgatherv) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Alltoallv) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Alltoallw) next, const MoveCall& call);
int pass_through_narrowed(decltype(&PMPI_Reduce) next, const ReduceCall& call);
int pass_through_narrowed(decltype(&PMPI_Allreduce) next, const ReduceCall& call);
int pass_through_narrowed(decltype(&PMPI_Reduce_scatter) next, const ReduceCall& call);

}  // namespace hocket::interposer
