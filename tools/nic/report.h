// SPDX-License-Identifier: BSD-3-Clause
// An engine, its groups and its counters as JSON: what `hocket nic status` shows.
//
// Thread safety: as the engine's.
#pragma once

#include <sys/types.h>

#include <string>

#include "nic/engine.h"

namespace hocket::nic {

// With the groups of one user only, or of all (null).
std::string report_as_json(const Engine& engine, const uid_t* user);

}  // namespace hocket::nic
