// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: calls whose arguments have been checked
// already, as those of MPI have by the shim. The C API's functions end here, too.
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/hocket.h>

#include <cstddef>

#include "communicator/calls/arguments.h"
#include "selection/by_mpi.h"

namespace hocket::c_api {

using communicator::Arguments;
using engines::OnDemand;
using selection::ByMpi;

// The operation is HOCKET_SUM or one of its like, on elements of a type of hocket's. Without a kernel afterwards: the
// type has no such operation.
void set_kernel(hocket_op_t op, hocket_type_t type, Arguments& out);

// Whether the buffers of a call that is not in place, of these lengths, have memory in common, which they must not.
inline bool overlap(const Arguments& arguments, size_t input_bytes, size_t output_bytes) {
  return arguments.input < arguments.output + output_bytes && arguments.output < arguments.input + input_bytes;
}
// The same as a failure of the call, in MPI's words.
hocket_status_t check_apart(const Arguments& arguments, size_t input_bytes, size_t output_bytes);

// As the function of the header that `arguments` describe.
hocket_status_t run(hocket_comm_t* comm, const Arguments& arguments);
hocket_status_t start(hocket_comm_t* comm, const Arguments& arguments, hocket_request_t** request);

// A request that is planned once and may be started again and again; tests and waits that end it leave it where it is.
// `track`: as Communicator::plan(), from 1 to own_tracks().
hocket_status_t plan(hocket_comm_t* comm, const Arguments& arguments, uint32_t track, hocket_request_t** request);
hocket_status_t start_planned(hocket_request_t* request);
// Not under way.
void drop_planned(hocket_request_t* request);
uint32_t own_tracks();

// Which calls are left to the MPI that they come through, by force or by a table, too. The same on all ranks.
ByMpi left_to_mpi(const hocket_comm_t* comm, bool only_forced);

// Whether ranks can work side by side, so that operands on demand are of use.
bool overlaps_work(const hocket_comm_t* comm);

// Whether engines may carry out non-blocking calls by themselves. The same on all ranks.
bool may_run_by_engines(const hocket_comm_t* comm);
// And this one, as far as its collective, operation and length say. The same.
bool may_go_by_engines(const hocket_comm_t* comm, const Arguments& arguments);
// Whether its ranks share memory and may carry out non-blocking calls there, none of which waits in its beginning. The
// same on all ranks.
bool may_run_in_memory(const hocket_comm_t* comm);
// What they carry is no longer than this.
size_t most_bytes_by_engines();

}  // namespace hocket::c_api
