// SPDX-License-Identifier: BSD-3-Clause
// What was measured of a call's like before the program began, by the tuning table in use.
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/hocket.h>

#include <optional>

#include "communicator/calls/planner.h"
#include "selection/measured.h"

namespace hocket::c_api {

using selection::Measured;

// A call of which only its bytes are known: of doubles, if they can be. Where ranks see different lengths, of any.
communicator::CallShape shape_of(schedule::Collective collective, size_t bytes, uint32_t ranks);

// Whether calls differ in a number of bytes only: not those of vector versions, nor among neighbours.
bool may_be_measured(schedule::Collective collective);
std::optional<Measured> best_measured(const hocket_comm_t* comm, schedule::Collective collective, size_t bytes);

}  // namespace hocket::c_api
