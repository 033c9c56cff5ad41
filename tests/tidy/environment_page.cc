// SPDX-License-Identifier: BSD-3-Clause
// Writes docs/environment.md from the table of settings, so that the page can't go out of date: a test compares.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace {

using hocket::environment::Kind;
using hocket::environment::Setting;

// A table cell may not hold a bar.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '|') escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string accepted(const Setting& setting) {
  switch (setting.kind) {
    case Kind::kFlag:
      return "`0` or `1`";
    case Kind::kInteger:
      return std::string(setting.choices) + ", " + std::to_string(setting.minimum) + " to " +
             std::to_string(setting.maximum);
    case Kind::kSize:
      return "bytes; `64K`, `64KB` and `64KiB` are the same, also with `M`, `G`";
    case Kind::kChoice:
      return "`" + cell(setting.choices) + "`";
    case Kind::kText:
      return cell(setting.choices);
  }
  return "";
}

void print_table() {
  std::printf("| variable | accepted | default | what it does |\n|---|---|---|---|\n");
  for (const Setting& setting : hocket::environment::settings()) {
    const std::string value = *setting.default_value ? "`" + std::string(setting.default_value) + "`" : "not set";
    std::printf("| `%s` | %s | %s | %s |\n", setting.name, accepted(setting).c_str(), value.c_str(),
                cell(setting.help).c_str());
  }
}

}  // namespace

int main() {
  std::printf(
      "# Settings\n\n"
      "hocket is set by variables of the environment; nobody needs any of them. An unset or empty variable means its\n"
      "default. `hocket info` prints this list with the values in effect.\n\n"
      "Nothing is replaced silently. A value that can't be understood, a misspelt name (`HOCKET_ALREDUCE`), a table "
      "that\n"
      "can't be read and a forced algorithm that can't be honoured are errors, whose message names the variable, its\n"
      "value and what is accepted. `hocket_context_create` or `hocket_comm_create` returns them; `hocket exec` stops\n"
      "before the launch; in an MPI program every collective call raises `MPI_ERR_OTHER` on all ranks,\n"
      "whichever rank has the variable, unless `HOCKET_DISABLE=1` passes them through. Other names that begin with\n"
      "`HOCKET_` are reported only: a module system or a container may have set `HOCKET_ROOT`. An algorithm that goes\n"
      "by multicast is forced on communicators of several nodes; within one the table chooses.\n\n"
      "Under an MPI, rank 0's values hold for all ranks wherever ranks must decide alike.\n\n");
  print_table();
  std::printf(
      "\nThis page is written by `build/release/bin/environment_page` from src/base/environment_settings.cc.\n");
  return 0;
}
