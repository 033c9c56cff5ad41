// SPDX-License-Identifier: BSD-3-Clause
// How an error that hocket has found becomes one of the MPI's.
//
// Thread safety: any thread.
#pragma once

#include "native.h"

namespace hocket::interposer {

// Does what the MPI does with an error of this communicator. Returns `code` where the program wants to know.
int raise_error(MPI_Comm comm, int code);

}  // namespace hocket::interposer
