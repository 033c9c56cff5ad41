// SPDX-License-Identifier: BSD-3-Clause
// The texts of shipped.table and of tables/, put into the library by embed_table.cmake when it is built.
//
// Thread safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace hocket::selection {

struct ShippedTable {
  std::string_view name;
  std::string_view text;
};
// shipped.table is the first.
extern const std::span<const ShippedTable> kShippedTables;

}  // namespace hocket::selection
