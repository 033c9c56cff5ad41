// SPDX-License-Identifier: BSD-3-Clause
// Text of records and of /proc, which another may have written, as it may be shown.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace hocket::platform {

// UTF-8 without what terminals take for commands, and without what makes one text look like another; "?" in place of
// these.
std::string printable(std::string_view text);

}  // namespace hocket::platform
