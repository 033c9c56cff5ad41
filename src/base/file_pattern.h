// SPDX-License-Identifier: BSD-3-Clause
// Names of files in settings: %h in them is the host's name, and %% is %.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>

namespace hocket {

// "", or what is wrong.
std::string problem_of_file_pattern(std::string_view pattern);

std::string file_of_pattern(std::string_view pattern, std::string_view host);

// From the root, of a file that is named from the folder in which this process is now: programs change it.
std::string whole_path(const std::string& file);

std::string name_of_host();  // "host" where it has none

}  // namespace hocket
