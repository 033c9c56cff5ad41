// SPDX-License-Identifier: BSD-3-Clause
// Steps and slices in words, for dumps and for the verifier's complaints.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "schedule/step.h"

namespace hocket::schedule {

std::string_view name(StepKind kind);      // "send", "receive_combine", ...
std::string describe(const Slice& slice);  // "output[1/4..2/4]", "scratch2[0..1]@1/4" where the origin is not 0
std::string describe(const Step& step);    // "get slot 0 v2 of 1 -> output"
std::string headline(const Step& step);    // without the slices: "get slot 0 v2 of 1"

}  // namespace hocket::schedule
