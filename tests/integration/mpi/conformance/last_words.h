// SPDX-License-Identifier: BSD-3-Clause
// A program that crashes, or that is stuck for minutes, says in which case.
#pragma once

#include <string>

namespace conformance {

// Once; then before each case.
void prepare_last_words(unsigned limit_seconds);
void announce(const std::string& description, int rank);

}  // namespace conformance
