// SPDX-License-Identifier: BSD-3-Clause
// What each rank knows only for itself, asked of all: whether they wait for each other in a call such as MPI_Alltoallv,
// in which a rank waits for those from whom it receives something; and whether all can do what they are to do.
//
// Thread safety: as decision.h.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// The same answer on all ranks of the communicator, in the same call of each. `waits_here`: this rank waits for all
// others in this call anyway; if it does it waits here, if not it only says so and goes on.
bool do_all_wait(MPI_Comm comm, bool waits_here);

// Whether all say so. Waits for all ranks.
bool do_all_say(MPI_Comm comm, bool yes);

// Before MPI_Finalize: waits for what was said and not heard by all.
void end_asking();

}  // namespace hocket::interposer
