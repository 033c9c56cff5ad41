// SPDX-License-Identifier: BSD-3-Clause
// Where a new table goes, and what is said about it.
//
// Thread safety: none.
#pragma once

#include <string>

#include "tune/table.h"

namespace hocket::command {

// To the file, whole or not at all: ranks of a running job may read it at any time. To stdout without a path, but with
// `json`, everything that was measured, the table being part of it.
Status deliver(const std::string& path, bool json, const std::string& text, const Survey& survey, const Fit& fit);
// On stderr: what the budget was too short for; that the machine was busy; where the table is.
void say_what_became(const TuneOptions& options, const Survey& survey, double noise, const std::string& path);

}  // namespace hocket::command
