// SPDX-License-Identifier: BSD-3-Clause
// A tuning table comes from a file that anybody may have written: no text may do harm, and what is accepted must
// read back the same from its own rules.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "selection/choice.h"

using namespace hocket::selection;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  hocket::Result<Table> table = Table::parse(input, "input");
  // Most inputs lack the header: give the lines a chance of their own.
  if (!table.is_ok()) table = Table::parse("hocket-table 1\n" + std::string(input), "input");
  if (!table.is_ok()) return 0;
  std::string rewritten = "hocket-table 1\n";
  for (const Rule& rule : table.value().rules()) {
    rewritten += to_text(rule) + "\n";
    const Query query{.collective = rule.collective,
                      .bytes = rule.bytes.first,
                      .ranks = static_cast<uint32_t>(rule.ranks.first % 1000 + 1),
                      .element_bytes = 8};
    if (explain(query, table.value()).empty()) std::abort();
  }
  const hocket::Result<Table> again = Table::parse(rewritten, "again");
  if (!again.is_ok() || again.value().rules().size() != table.value().rules().size()) std::abort();
  for (size_t i = 0; i < again.value().rules().size(); ++i)
    if (to_text(again.value().rules()[i]) != to_text(table.value().rules()[i])) std::abort();
  return 0;
}
