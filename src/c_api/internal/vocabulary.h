// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what sentences about calls name them by.
//
// Thread safety: before the context's first communicator is made.
#pragma once

#include <hocket/hocket.h>

namespace hocket::c_api {

// MPI's words from now on, as the program has called MPI.
void speak_of_mpi(hocket_context_t* context);

}  // namespace hocket::c_api
