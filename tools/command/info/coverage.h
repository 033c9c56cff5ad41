// SPDX-License-Identifier: BSD-3-Clause
// hocket info --coverage: which of MPI's collectives hocket carries out, and under which conditions.
//
// Thread safety: one thread.
#pragma once

namespace hocket::command {

// As text, or as an array of objects; the exit code.
int show_coverage(bool as_json);

}  // namespace hocket::command
