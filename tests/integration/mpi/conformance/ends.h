// SPDX-License-Identifier: BSD-3-Clause
// How a program learns that what it has started is over: by each function that MPI has for it, alone or among others.
#pragma once

#include <mpi.h>

#include <string>

#include "cases.h"
#include "communicators.h"

namespace conformance {

// The MPI's error code. `complaint`: what is wrong with how the request ended, if nothing has been before.
int end_request(const Case& which, const Communicator& communicator, MPI_Request& request, std::string& complaint);

}  // namespace conformance
