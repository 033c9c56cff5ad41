// SPDX-License-Identifier: BSD-3-Clause
// How an error that hocket has found becomes one of the MPI's.
//
// Thread safety: any thread.
#pragma once

#include "native.h"

namespace hocket::interposer {

// Raises `code` by the communicator's error handler and, where the program wants to know, returns it. Where that is the
// fatal one, all ranks end.
int raise_error(MPI_Comm comm, int code);

// Ends the processes of the job, this one and all others, which may wait for it. Why has been told on stderr.
[[noreturn]] void end_all_ranks(int code);

}  // namespace hocket::interposer
