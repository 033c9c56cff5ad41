// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of the job are on one node, as far as they have told each other in MPI_Init.
//
// Thread safety: any thread, between MPI_Init and MPI_Finalize.
#pragma once

#include <cstdint>
#include <vector>

#include "shim/underneath/next.h"

namespace hocket::interposer {

// Of each rank of MPI_COMM_WORLD. In MPI_Init. Whether they are several, which job_spans_nodes() tells from then on.
bool note_nodes(std::vector<uint64_t> of_world);

// Whether the communicator has ranks on several. The same on all of them.
bool spans_nodes(MPI_Comm comm);

}  // namespace hocket::interposer
