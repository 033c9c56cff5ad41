// SPDX-License-Identifier: BSD-3-Clause
// The text of shipped.table, put into the library by embed_table.cmake when it is built.
//
// Thread safety: a constant.
#pragma once

#include <string_view>

namespace hocket::selection {

extern const std::string_view kShippedTable;

}  // namespace hocket::selection
