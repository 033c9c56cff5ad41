// SPDX-License-Identifier: BSD-3-Clause
// The job begins and ends: what is made in MPI_Init, and taken down in MPI_Finalize. Programs that begin by
// MPI_Session_init have no such functions (sessions.h).
//
// Thread safety: as of these two.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// Before the MPI's own initialisation, which starts threads.
void prepare_job();
// After it, whatever has come of it.
void withdraw_settings();
// After the MPI's own initialisation and before its finalisation.
void begin_job();
void end_job();
// By all processes of `world`, which is the hidden communicator, too, unless it is MPI_COMM_WORLD.
void begin_job_of(MPI_Comm world);
// It may be over: a process has one at most.
bool has_started_job();

}  // namespace hocket::interposer
