// SPDX-License-Identifier: BSD-3-Clause
// Writes docs/environment.md from the table of settings, so that the page can't go out of date: a test compares.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "documentation/settings_text.h"

namespace {

using hocket::documentation::accepted_by;
using hocket::documentation::default_of;
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

void print_table() {
  std::printf("| variable | accepted | default | what it does |\n|---|---|---|---|\n");
  for (const Setting& setting : hocket::environment::settings()) {
    std::printf("| `%s` | %s | %s | %s |\n", setting.name, cell(accepted_by(setting)).c_str(),
                default_of(setting).c_str(), cell(setting.help).c_str());
  }
}

}  // namespace

int main() {
  std::printf("# Settings\n\n%s\n", std::string(hocket::documentation::introduction_to_settings()).c_str());
  print_table();
  std::printf(
      "\nThis page is written by `build/release/bin/environment_page` from src/base/environment_settings.cc.\n");
  return 0;
}
