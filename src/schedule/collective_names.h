// SPDX-License-Identifier: BSD-3-Clause
// Collectives as people call them: by hocket's name or MPI's.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schedule/collective.h"

namespace hocket::schedule {

// "broadcast", "bcast", "MPI_Bcast", "Reduce-scatter": capitals don't matter, nor does which line is between words.
// Not those among neighbours, which the other one finds, too.
std::optional<Collective> find_collective(std::string_view word);
std::optional<Collective> find_any_collective(std::string_view word);

// The same by the name of a function of MPI in any form: `MPI_Iallreduce`, `MPI_Allreduce_init` and `MPI_Allreduce_c`
// have the schedules of `MPI_Allreduce`.
std::optional<Collective> find_collective_of_form(std::string_view word);

// "`alreduce` is not a collective: did you mean `allreduce`? there are barrier, ...", and `others`: `all`, say.
std::string not_a_collective(std::string_view word, std::span<const std::string_view> others = {});
// The same where those among neighbours are collectives, too.
std::string not_any_collective(std::string_view word, std::span<const std::string_view> others = {});

}  // namespace hocket::schedule
