// SPDX-License-Identifier: BSD-3-Clause
// A job's ranks for programs; docs/hocket-command.md names the fields.
//
// Thread safety: pure functions.
#pragma once

#include <nlohmann/json.hpp>

#include "observe/job_view.h"

namespace hocket::observe {

nlohmann::ordered_json json_of(const JobView& job);

}  // namespace hocket::observe
