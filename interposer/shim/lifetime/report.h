// SPDX-License-Identifier: BSD-3-Clause
// What HOCKET_STATS asks for at the end of a job: gathered from all ranks, told by rank 0.
//
// Thread safety: in MPI_Finalize.
#pragma once

namespace hocket::interposer {

// All ranks call it, before what it asks of each is gone.
void report_job();

}  // namespace hocket::interposer
