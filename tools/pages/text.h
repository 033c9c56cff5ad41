// SPDX-License-Identifier: BSD-3-Clause
// Text that pages, charts and traces show, whoever wrote it, and numbers as people read them.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hocket::pages {

// UTF-8 without control characters: a tab or the end of a line becomes a blank, every other one, and every byte that is
// no UTF-8, a replacement character. What it gives can be shown in a terminal, and written to JSON and XML.
std::string printable(std::string_view text);

// printable(), for the text of an element or a quoted attribute of HTML, SVG and XML.
std::string escaped(std::string_view text);

// printable(), as a string of JSON, with its quotes, behind what stands in `json` already.
void append_json_string(std::string& json, std::string_view text);

// The characters of a printable text.
size_t count_characters(std::string_view text);
// The first so many of them, the last of which is "…" where some were left out.
std::string shortened(std::string_view text, size_t limit);

// Three significant digits, but all digits before the point: "0.0213", "25.7", "1025", "2.5e7"; "-" for no number.
std::string number_text(double value);
// With so many digits behind the point; zero is "0".
std::string fixed_text(double value, int decimals);

// Whether a cell of a table reads as a number, with a sign, a unit or a bound: "3.4", "-2 %", "<0.1", "5.6 us", "1/8".
bool is_number(std::string_view cell);

}  // namespace hocket::pages
