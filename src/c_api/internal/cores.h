// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what ranks know of their cores, and of how
// they are to wait, before they have a communicator.
//
// Thread safety: any thread.
#pragma once

#include "platform/machine/topology.h"
#include "platform/waiting/waiting.h"

namespace hocket::c_api {

// The processors that this process may use. platform::ranks_share_cores() compares those of all ranks.
platform::CoreClaim core_claim();

// How many the node has for a job. A process that is bound to some of them says nothing of its peers': then all that
// are online, as far as the control group lets it.
uint32_t cores_of_node();

// HOCKET_WAIT. What can't be understood is an error of every call, and reported elsewhere.
platform::WaitMode wait_mode();

}  // namespace hocket::c_api
