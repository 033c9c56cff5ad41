// SPDX-License-Identifier: BSD-3-Clause
// The end of a job for programs: what HOCKET_STATS=FILE.json writes.
//
// Thread safety: pure functions; any thread.
#pragma once

#include <string>

#include "base/status.h"
#include "core/report/job_report.h"

namespace hocket::interposer {

// One object, with its newline.
std::string json_text(const JobReport& report);

// A text as JSON has it, in its quotation marks. What is not UTF-8 becomes question marks.
std::string json_string(std::string_view text);

// Whether it could be written now. Nothing is left.
Status try_file(const std::string& path);

// In place of what is there, at once: no reader sees half of it.
Status write_file(const std::string& path, const std::string& text);

}  // namespace hocket::interposer
