// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/common_settings.h"

#include <fstream>
#include <sstream>

#include "base/environment.h"

namespace hocket::communicator {

Result<std::string> read_common_settings() {
  std::ostringstream text;
  for (int i = 0; i < schedule::kAllCollectives; ++i) {
    const auto collective = static_cast<schedule::Collective>(i);
    const std::string variable = selection::forcing_variable(collective);
    Result<std::string> spec = environment::get_text(variable.c_str());
    if (!spec.is_ok()) return spec.take_status();
    if (spec.value().empty()) continue;
    if (Status parsed = selection::parse_spec(collective, spec.value()).take_status(); !parsed.is_ok()) {
      return Status(Code::kInvalidArgument, variable + "=" + spec.value() + ": " + parsed.message());
    }
    text << name(collective) << ' ' << spec.value() << '\n';
  }
  text << '\n';
  Result<std::string> path = environment::get_text("HOCKET_TABLE");
  if (!path.is_ok()) return path.take_status();
  if (!path.value().empty()) {
    if (Status loaded = selection::Table::load(path.value()).take_status(); !loaded.is_ok()) return loaded;
    text << std::ifstream(path.value()).rdbuf();
  }
  return text.str();
}

Result<CommonSettings> parse_common_settings(const std::string& text, uint32_t cores) {
  CommonSettings settings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const size_t space = line.find(' ');
    const auto collective = schedule::collective_from_name(line.substr(0, space));
    if (!collective) return Status(Code::kSystem, "rank 0 runs another version of hocket");
    Result<selection::Spec> spec = selection::parse_spec(*collective, line.substr(space + 1));
    if (!spec.is_ok()) return spec.take_status();
    settings.forced.emplace_back(*collective, spec.value());
  }
  std::ostringstream rest;
  rest << lines.rdbuf();
  settings.table = selection::Table::shipped_for(cores);
  if (rest.str().empty()) return settings;
  Result<selection::Table> parsed = selection::Table::parse(rest.str(), "HOCKET_TABLE of rank 0");
  if (!parsed.is_ok()) return parsed.take_status();
  settings.table = parsed.take();
  return settings;
}

}  // namespace hocket::communicator
