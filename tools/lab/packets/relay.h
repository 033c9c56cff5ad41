// SPDX-License-Identifier: BSD-3-Clause
// The process of a lab that holds packets for a while, since BPF programs can't send later.
//
// The programs on the ports divert packets to its interface (a tap) with their link as VLAN tag; it writes them back
// when their time has come, and lab_from_relay puts them where they were taken from. It has the lab's file `relay`
// locked as long as it lives.
//
// Thread safety: one thread at a time; starting and stopping need the Lock.
#pragma once

#include <sys/types.h>

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

// Returns when it is ready; ok where one runs already.
Status start_relay(const Lab& lab);
Status stop_relay(const Lab& lab);
// 0: there is none.
pid_t relay_process(const Lab& lab);

}  // namespace hocket::lab
