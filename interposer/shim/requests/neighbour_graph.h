// SPDX-License-Identifier: BSD-3-Clause
// A communicator's topology, of MPI, as a neighbourhood of hocket's.
//
// Thread safety: one communicator by one thread at a time.
#pragma once

#include "core/communicator.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// On all ranks alike, which wait for each other. Without a handle where there is no topology, or hocket can't have it.
void make_neighbourhood(Communicator& communicator, MPI_Comm handle);

}  // namespace hocket::interposer
