// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: how long blocking calls took, and which rank
// came to them last (communicator/timing/call_times.h).
//
// Thread safety: any thread; a call's times are for the thread that has made it.
#pragma once

#include "communicator/timing/call_times.h"

namespace hocket::c_api {

using communicator::CallTimes;

// Of this process, from its next call on. On all ranks of a job, or those that time nothing are never seen as late.
void time_calls(bool on);
// Those of this thread's last blocking call that hocket carried out. False: there is none since it was last asked.
bool take_last_call(CallTimes& times);

}  // namespace hocket::c_api
