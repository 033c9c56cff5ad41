// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: calls among neighbours whose arguments have
// been checked already, by call.h's run() and start().
//
// Arguments::root of such a call is the neighbourhood's number. `input_blocks` and `output_blocks` of the vector
// versions have an entry for each of this rank's destinations and sources; neighbor_allgatherv has the length of its
// one block in `count`. An alltoallw is an alltoallv of bytes.
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/neighbourhoods.h>

#include <cstdint>

#include "communicator/calls/arguments.h"
#include "schedule/neighbours.h"

namespace hocket::c_api {

uint32_t number_of(const hocket_neighbourhood_t* neighbourhood);
const schedule::Neighbours& neighbours_of(const hocket_neighbourhood_t* neighbourhood);
// The communicator of its calls.
hocket_comm_t* comm_of(const hocket_neighbourhood_t* neighbourhood);

// The same neighbourhood in another communicator of the same ranks. Local, in the same order on all of them.
hocket_neighbourhood_t* make_like(const hocket_neighbourhood_t* neighbourhood, hocket_comm_t* comm);

}  // namespace hocket::c_api
