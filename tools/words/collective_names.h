// SPDX-License-Identifier: BSD-3-Clause
// Collectives on the command line.
//
// Thread safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schedule/collective.h"

namespace hocket::command {

// By hocket's name or MPI's. The error names the nearest that there is, and all of them: `others` (`all`, say) too.
Result<schedule::Collective> read_collective(const std::string& word, std::span<const std::string_view> others = {});

// The same where those among neighbours are collectives, too.
Result<schedule::Collective> read_any_collective(const std::string& word,
                                                 std::span<const std::string_view> others = {});

// The same where the form of a function of MPI makes no difference.
Result<schedule::Collective> read_collective_of_form(const std::string& word);

// Separated by commas, `all` being all of them; each once, in the order of the enumeration.
Result<std::vector<schedule::Collective>> read_collectives(const std::string& text);

}  // namespace hocket::command
