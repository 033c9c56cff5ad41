// SPDX-License-Identifier: BSD-3-Clause
// XDP programs on the switch's ends of a lab's links that let everything pass. A veth sends what a program of its own
// gives back (XDP_TX) only if there is a program at its other end, too.
//
// Thread safety: one thread.
#pragma once

#include <vector>

#include "base/status.h"
#include "lab/lab.h"
#include "platform/descriptor.h"

namespace hocket::lab_bench {

// They stay as long as the descriptors are open.
Result<std::vector<platform::Descriptor>> let_ports_pass(const lab::Lab& lab);

}  // namespace hocket::lab_bench
