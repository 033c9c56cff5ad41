// SPDX-License-Identifier: BSD-3-Clause
// The job begins and ends: what is made in MPI_Init, and taken down in MPI_Finalize.
//
// Thread safety: as of these two.
#pragma once

namespace hocket::interposer {

// Before the MPI's own initialisation, which starts threads.
// `wants_all_threads`: the program asks for MPI_THREAD_MULTIPLE.
void prepare_job(bool wants_all_threads);
// After it, whatever has come of it.
void withdraw_settings();
// After the MPI's own initialisation and before its finalisation.
void begin_job();
void end_job();

}  // namespace hocket::interposer
