// SPDX-License-Identifier: BSD-3-Clause
// A communicator's topology, of MPI, as a neighbourhood of hocket's.
//
// Thread safety: one communicator by one thread at a time.
#pragma once

#include "core/communicator.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// Of a grid or a graph each rank knows all neighbours; of a distributed graph ranks have to tell each other, in a call
// in which all wait: until then the communicator is Phase::kOwing.
bool has_neighbours_to_tell(const Communicator& communicator, MPI_Comm handle);
// On all ranks alike. Without a handle where there is no topology, or hocket can't have it.
void make_neighbourhood(Communicator& communicator, MPI_Comm handle);

}  // namespace hocket::interposer
