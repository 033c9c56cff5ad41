// SPDX-License-Identifier: BSD-3-Clause
// The manual: hocket(1) and its subcommands, hocket-environment(7), libhocket(3) and its functions.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "documentation/command_tree.h"
#include "documentation/public_header.h"
#include "documentation/roff.h"

namespace hocket::documentation {

struct Page {
  std::string file;  // "man1/hocket-lab-up.1"
  std::string text;
};

// Of the command and each subcommand.
std::vector<Page> command_pages(const Command& command, const Edition& edition);

Page settings_page(const Edition& edition);

// Of the public headers, hocket.h first: the overview, a page for each group of functions with a comment in common, and
// for each function that is not its group's first a page that leads there. An error names what is not understood.
Result<std::vector<Page>> library_pages(const std::vector<HeaderText>& headers, const Edition& edition);

}  // namespace hocket::documentation
