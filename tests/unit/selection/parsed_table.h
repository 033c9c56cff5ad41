// SPDX-License-Identifier: BSD-3-Clause
// A table of the lines behind its first one.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "selection/table.h"

namespace hocket::selection {

inline Table parsed_table(const std::string& lines) {
  Result<Table> table = Table::parse("hocket-table 1\n" + lines, "test");
  EXPECT_TRUE(table.is_ok()) << table.status().message();
  return table.take();
}

}  // namespace hocket::selection
