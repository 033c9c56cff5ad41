// SPDX-License-Identifier: BSD-3-Clause
// What docs/environment.md and hocket-environment(7) say of settings, in Markdown: names and values `so`.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"

namespace hocket::documentation {

// Paragraphs.
std::string_view introduction_to_settings();

// The values that a setting takes.
std::string accepted_by(const environment::Setting& setting);

// Its default, or "not set".
std::string default_of(const environment::Setting& setting);

}  // namespace hocket::documentation
