// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: sleep of a rank that waits in the library
// underneath, and its end by ranks of its node that have something for it there.
//
// Nobody looks once more between the announcement and the sleep, and wakers write nothing that could be looked for: one
// that comes in between is missed. So each sleep has an end of its own.
//
// Thread safety: one thread at a time sleeps, while no other is in a call on the communicator; any may wake others.
#pragma once

#include <hocket/hocket.h>

#include <atomic>
#include <cstdint>

namespace hocket::c_api {

// How many ranks of this node sleep or are about to, here or in calls on the communicator. Valid as long as it is.
const std::atomic<uint32_t>& sleepers(const hocket_comm_t* comm);
// True: another rank has ended it.
bool sleep_until_woken(hocket_comm_t* comm, int64_t timeout_ns);
// Nothing where it is on another node, or no rank at all.
void wake(hocket_comm_t* comm, int rank);

}  // namespace hocket::c_api
