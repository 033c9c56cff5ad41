// SPDX-License-Identifier: BSD-3-Clause
// How pages look: on phones, on wide windows, in light and dark, and printed.
//
// Thread safety: pure functions.
#pragma once

#include <string>

namespace hocket::pages {

// The rules of CSS for what pages are made of, those of charts aside.
std::string page_style();

}  // namespace hocket::pages
