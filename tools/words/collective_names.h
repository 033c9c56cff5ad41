// SPDX-License-Identifier: BSD-3-Clause
// Collectives as people call them: by hocket's name or MPI's.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schedule/collective.h"

namespace hocket::command {

// "broadcast", "bcast", "MPI_Bcast", "Reduce-scatter": capitals don't matter, nor does which line is between words.
std::optional<schedule::Collective> find_collective(std::string_view word);

// The same; the error names the nearest that there is, and all of them: `others` (`all`, say) too.
Result<schedule::Collective> read_collective(const std::string& word, std::span<const std::string_view> others = {});

// Separated by commas, `all` being all of them; each once, in the order of the enumeration.
Result<std::vector<schedule::Collective>> read_collectives(const std::string& text);

// Of `known` the one that differs least from `word`, if it is likely to be meant, else "".
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// "did you mean `broadcast`? ", or "".
std::string question_after(std::string_view meant);

}  // namespace hocket::command
