// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: how many ranks there are, where that is
// known before the first communicator tells, and which job it is.
//
// Thread safety: any thread.
#pragma once

#include <hocket/hocket.h>

#include <cstdint>

namespace hocket::c_api {

// At most this many ranks may come to map each other's memory. A communicator of as many, on one node, makes those
// after it cheaper to set up. `job`: a number that no other job has.
void expect_ranks(hocket_context_t* context, uint32_t ranks, uint32_t job);

}  // namespace hocket::c_api
