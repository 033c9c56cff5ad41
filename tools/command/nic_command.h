// SPDX-License-Identifier: BSD-3-Clause
// What the files of `hocket nic` have in common.
//
// Thread safety: one thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "command/command.h"

namespace hocket::command {

// What the service of an interface says of its engine, groups and counters.
// `is_named`: the user named the interface and so trusts its service; otherwise only a service of root or of this user
// is trusted.
Result<nlohmann::ordered_json> nic_report(const std::string& interface, bool is_named = true);

void add_nic_top(CLI::App& nic, Invocation& invocation);

}  // namespace hocket::command
