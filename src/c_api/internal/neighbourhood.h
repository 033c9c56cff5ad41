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
#include <span>
#include <vector>

#include "communicator/calls/arguments.h"
#include "schedule/neighbours.h"

namespace hocket::c_api {

uint32_t number_of(const hocket_neighbourhood_t* neighbourhood);
const schedule::Neighbours& neighbours_of(const hocket_neighbourhood_t* neighbourhood);
// The communicator of its calls.
hocket_comm_t* comm_of(const hocket_neighbourhood_t* neighbourhood);

// What follows is local, in the same order on all ranks of the communicator.
// The same neighbourhood in another communicator of the same ranks.
hocket_neighbourhood_t* make_like(const hocket_neighbourhood_t* neighbourhood, hocket_comm_t* comm);
// Where each rank knows of all whose neighbours they are, the same on all of them.
hocket_status_t make_grid_known(hocket_comm_t* comm, const std::vector<int>& lengths, const std::vector<int>& periods,
                                hocket_neighbourhood_t** neighbourhood);
hocket_status_t make_lists_known(hocket_comm_t* comm, std::span<const schedule::Neighbours::Lists> lists,
                                 hocket_neighbourhood_t** neighbourhood);

}  // namespace hocket::c_api
