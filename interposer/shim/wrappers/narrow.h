// SPDX-License-Identifier: BSD-3-Clause
// A program may refer weakly to functions such as MPI_Bcast_c, and then find ours although its MPI has none: such a
// call is handed on to the function with int, if its numbers fit, or ends with MPI_ERR_COUNT.
//
// Thread safety: as of the functions themselves.
#pragma once

#include "shim/collectives/broadcast.h"
#include "shim/collectives/movement.h"
#include "shim/collectives/reductions.h"

namespace hocket::interposer {

// `next`: under one of both names.
int hand_on_narrowed(const CaughtFunctions& next, const BroadcastCall& call);
int hand_on_narrowed(const CaughtFunctions& next, const MoveCall& call);
int hand_on_narrowed(const CaughtFunctions& next, const ReduceCall& call);

}  // namespace hocket::interposer
