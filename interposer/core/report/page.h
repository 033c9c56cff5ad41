// SPDX-License-Identifier: BSD-3-Clause
// The end of a job as a page that a person reads: what HOCKET_STATS=1 prints below the counts of calls.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "core/report/job_report.h"
#include "core/report/terminal.h"

namespace hocket::interposer {

// "" where no time was measured.
std::string page_text(const JobReport& report, const TerminalStyle& style);

}  // namespace hocket::interposer
