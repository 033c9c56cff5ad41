// SPDX-License-Identifier: BSD-3-Clause
// What a probe found, as tables for people and as JSON for programs.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "probe/interface.h"

namespace hocket::probe {

// `title`: the MPI's.
std::string to_text(const std::string& title, const Findings& found, const Interface& interface);
std::string to_json(const std::string& title, const Findings& found, const Interface& interface);

}  // namespace hocket::probe
