// SPDX-License-Identifier: BSD-3-Clause
// What HOCKET_STATS asks for at the end of a job: gathered from all ranks, told by rank 0.
//
// Thread safety: in MPI_Init and MPI_Finalize.
#pragma once

namespace hocket::interposer {

// In MPI_Init, when the job's ranks are known: says where a file that is asked for can't be written.
void begin_report();
// All ranks call it, before what it asks of each is gone.
void report_job();

}  // namespace hocket::interposer
