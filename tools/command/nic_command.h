// SPDX-License-Identifier: BSD-3-Clause
// What the files of `hocket nic` have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.h"
#include "command/command.h"

namespace hocket::command {

// What the service of an interface says of its engine, groups and counters.
Result<nlohmann::ordered_json> nic_report(const std::string& interface);

void add_nic_top(CLI::App& nic, Invocation& invocation);

}  // namespace hocket::command
