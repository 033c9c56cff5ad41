// SPDX-License-Identifier: BSD-3-Clause
#include "words/configuration.h"

#include "base/environment.h"
#include "platform/machine/topology.h"

namespace hocket::command {

const selection::Table& shipped_table() { return selection::Table::shipped_for(platform::read_cpu_budget().usable()); }

Result<selection::Table> table_in_use() {
  Result<std::string> path = environment::get_text("HOCKET_TABLE");
  if (!path.is_ok()) return path.take_status();
  if (path.value().empty()) return selection::Table(shipped_table());
  return selection::Table::load(path.value());
}

Result<selection::Spec> forced_spec(schedule::Collective collective) {
  const std::string variable = selection::forcing_variable(collective);
  Result<std::string> text = environment::get_text(variable);
  if (!text.is_ok()) return text.take_status();
  if (text.value().empty()) return selection::Spec{};
  Result<selection::Spec> spec = selection::parse_spec(collective, text.value());
  if (!spec.is_ok()) return Status(spec.status().code(), variable + ": " + spec.status().message());
  return spec;
}

Status check_configuration() {
  if (Result<selection::Table> table = table_in_use(); !table.is_ok()) return table.take_status();
  for (int i = 0; i < schedule::kAllCollectives; ++i) {
    const auto collective = static_cast<schedule::Collective>(i);
    Result<selection::Spec> spec = forced_spec(collective);
    if (!spec.is_ok()) return spec.take_status();
  }
  return Status::ok();
}

}  // namespace hocket::command
