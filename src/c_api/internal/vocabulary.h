// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what calls come through, and what sentences
// about them name them by.
//
// Thread safety: before the context's first communicator is made.
#pragma once

#include <hocket/hocket.h>

#include <string_view>

namespace hocket::c_api {

// Calls come through an MPI: sentences are in MPI's words, rules of tables hold that ask for the MPI of that name
// ("openmpi-5"), and calls may be left to it.
void speak_of_mpi(hocket_context_t* context, const char* name);
// By which sentences and records name the communicator. Any time, as its other functions.
void name_communicator(hocket_comm_t* comm, std::string_view name);

}  // namespace hocket::c_api
