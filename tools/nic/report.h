// SPDX-License-Identifier: BSD-3-Clause
// An engine, its groups and its counters as JSON: what `hocket nic status` shows.
//
// Thread safety: as the engine's.
#pragma once

#include <string>

#include "nic/engine.h"

namespace hocket::nic {

std::string report_as_json(const Engine& engine);

}  // namespace hocket::nic
