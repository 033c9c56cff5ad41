// SPDX-License-Identifier: BSD-3-Clause
// Words of the command line that several subcommands read or show in the same way.
//
// Thread safety: any thread, as for base/environment.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace hocket::command {

// "8,64,1K" -> "8", "64", "1K". What is empty between two commas is a word, too; behind the last comma it is not.
std::vector<std::string> split_at_commas(const std::string& text);

// "60", "60s", "2m", "500ms" in seconds; the error names the option.
Result<double> read_time(const std::string& option, const std::string& text);

// "8,64,1K..4M": numbers of bytes, and ranges in powers of two; the error names the option where there are none.
Result<std::vector<uint64_t>> read_sizes(const std::string& option, const std::string& text);

// "" where HOCKET_MULTICAST says that all ranks can multicast, which nothing here could find out.
const char* why_no_multicast();

// Found out before anything is measured; errors name the option. An empty path is stdout.
Status check_writable(const std::string& option, const std::string& path);

}  // namespace hocket::command
