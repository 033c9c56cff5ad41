// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what ranks of a whole job that have met in a
// communicator leave for each other in its memory, beside its calls.
//
// Thread safety: of each rank one thread at a time leaves notices; any reads.
#pragma once

#include <hocket/hocket.h>

#include <cstddef>
#include <cstdint>

namespace hocket::c_api {

// Of a communicator of all ranks that the context expects, on one node. The same on all ranks.
bool has_notices(const hocket_comm_t* comm);
size_t longest_notice();
// Under a number that isn't 0. It is overwritten by the fourth after it.
void leave_notice(hocket_comm_t* comm, uint64_t number, const void* text, size_t bytes);
// False: not there yet.
bool read_notice(const hocket_comm_t* comm, int rank, uint64_t number, void* text, size_t bytes);
// A system call.
bool is_alive(const hocket_comm_t* comm, int rank);

}  // namespace hocket::c_api
