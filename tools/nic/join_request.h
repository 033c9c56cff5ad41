// SPDX-License-Identifier: BSD-3-Clause
// What a job says when it joins, looked at with distrust: nothing of it may lead an engine astray.
//
// Thread safety: any number of threads.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"
#include "nic/engine.h"

namespace hocket::nic {

constexpr size_t kLongestRequest =
    sizeof(nic_join) + NIC_MOST_PROGRAMS * sizeof(nic_program) + NIC_MOST_MEMBERS * sizeof(nic_peer);

// `own`: where the engine is reached. Fills in all of `wanted` but the user that asks. kInvalidArgument says what is
// wrong.
Status read_join(std::span<const char> request, const nic_peer& own, JoinRequest& wanted);

}  // namespace hocket::nic
