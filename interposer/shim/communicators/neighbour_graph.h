// SPDX-License-Identifier: BSD-3-Clause
// A communicator's topology, of MPI, as a neighbourhood of hocket's.
//
// Thread safety: one communicator by one thread at a time.
#pragma once

#include "core/communicator.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// On all ranks alike. Of a grid or a graph each rank knows all neighbours; of a distributed graph ranks have to tell
// each other, and where they may not wait for that it is left to the next call in which they do (Phase::kOwing), and
// there is none yet. Without a handle where there is no topology, or hocket can't have it.
void make_neighbourhood(Communicator& communicator, MPI_Comm handle, bool may_wait);

}  // namespace hocket::interposer
