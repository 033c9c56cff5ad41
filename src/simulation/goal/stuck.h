// SPDX-License-Identifier: BSD-3-Clause
// Why a schedule in GOAL doesn't come to an end.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "simulation/goal/goal.h"

namespace hocket::simulation {

// How far an operation has come.
enum class GoalState : uint8_t {
  kWaiting,  // for others
  kReady,    // to start
  kStarted,  // a receive without a message, or a rendezvous without a receive
  kEnded,
};

// A sentence that names one operation to start looking at. `received`: of a send, whether its message has met a
// receive; there must be an operation that hasn't ended or a message that hasn't been received.
std::string why_stuck(const Goal& goal, std::span<const GoalState> states, std::span<const uint8_t> received);

}  // namespace hocket::simulation
