// SPDX-License-Identifier: BSD-3-Clause
// Communicators that go, and the calls that are under way on them.
//
// Thread safety: any thread.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// Before the MPI frees it, and before it disconnects it, for which all its ranks wait for each other.
void close_before_free(MPI_Comm handle);
void close_before_disconnect(MPI_Comm handle);

}  // namespace hocket::interposer
