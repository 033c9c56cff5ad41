// SPDX-License-Identifier: BSD-3-Clause
// The tables of pages in Markdown, as the pages of bench/results have them, and numbers as they write them.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::reproduce {

struct PageTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // without what marks a cell: ** and *

  // The place of a column called so.
  std::optional<size_t> column(std::string_view name) const;
};

// The table behind the first line that begins so, or whose own head it is; without a head if there is none.
PageTable find_table(std::string_view page, std::string_view beginning);

// The number that a cell begins with, or from 1 the `part`-th of it: "1153 (1035..1343)", "0.35 / 0.15 (2.34)",
// "16 KiB" and "1K" (in bytes), "10 %", "4x2" (their product).
std::optional<double> number_in(std::string_view cell, int part = 1);

}  // namespace hocket::reproduce
