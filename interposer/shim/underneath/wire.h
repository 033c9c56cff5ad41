// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own point-to-point as the wire between nodes, on a communicator that the program doesn't know.
//
// Thread safety: opened and closed in MPI_Init and MPI_Finalize; the wire as the MPI's thread level allows.
#pragma once

#include "hocket/hocket.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// Collective over `world`. False: the MPI failed here.
bool open_wire(MPI_Comm world);
// Collective; when no context uses it any more.
void close_wire();
// As tables name the MPI underneath: "openmpi-5"; "": it is none that they know. Lives as long as the process.
const char* mpi_name();
// What the context is given; nullptr: none is open.
const hocket_wire_t* the_wire();

}  // namespace hocket::interposer
