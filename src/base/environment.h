// SPDX-License-Identifier: BSD-3-Clause
// The one place that knows every variable of the environment by which hocket is set: HOCKET_*.
//
// A variable that is unset or empty means its default. A value that can't be understood is an error that names the
// variable, the value and what is accepted; nothing is replaced silently.
//
// Thread safety: any thread, as long as none changes the environment meanwhile (as for getenv).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hocket::environment {

enum class Kind : uint8_t {
  kFlag,        // 1 0 on off yes no true false
  kFlagOrFile,  // the same, or a file that names_file(): which means yes
  kInteger,     // decimal, within [minimum, maximum]
  kSize,        // bytes as parse_size of base/size_text.h takes them, within [minimum, maximum]
  kChoice,      // one word of `choices`
  kText,        // anything
};

struct Setting {
  const char* name;  // with HOCKET_
  Kind kind;
  const char* choices;        // "auto|on|off" for kChoice; for kText what it is ("path"), for the list
  const char* default_value;  // "" where that means: not set
  int64_t minimum;
  int64_t maximum;
  const char* help;  // one line
};

// All of them, in the order in which they should be listed.
std::span<const Setting> settings();
const Setting* find(std::string_view name);  // nullptr when there is none of that name

// The variable's value or its default. `name` must be in settings() and of that kind; otherwise kInvalidArgument.
Result<bool> get_flag(std::string_view name);  // of a kFlagOrFile, too
bool names_file(std::string_view text);        // ends in .json, and something stands before
Result<int64_t> get_integer(std::string_view name);
Result<uint64_t> get_size(std::string_view name);     // bytes
Result<int> get_enum(std::string_view name);          // the word's place in `choices`, from 0
Result<std::string> get_text(std::string_view name);  // of settings of any kind; a kChoice is checked
bool is_set(std::string_view name);                   // to a value that is not empty

// The same for a value that came from elsewhere: a command line, another rank's environment. Empty: the default.
Result<bool> parse_flag(const Setting& setting, std::string_view text);
Result<int64_t> parse_integer(const Setting& setting, std::string_view text);
Result<uint64_t> parse_size(const Setting& setting, std::string_view text);
Result<int> parse_enum(const Setting& setting, std::string_view text);
// Ok if `text` is a value of the setting, whatever its kind.
Status check(const Setting& setting, std::string_view text);

// Everything wrong with this process's environment, a sentence each.
struct Problems {
  std::vector<std::string> errors;  // values that can't be understood; names that are a setting's, misspelt
  // Other names that begin with HOCKET_. Not errors: a module system or a container may have set HOCKET_ROOT.
  std::vector<std::string> doubts;
};
Problems problems();

// All of problems().errors in one message, or ok. A context isn't created with them.
Status check_process();

// "`HOCKET_ALREDUCE` is not a setting of hocket; did you mean HOCKET_ALLREDUCE?"
std::string unknown_name(std::string_view name);

}  // namespace hocket::environment
