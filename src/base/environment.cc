// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "base/file_pattern.h"
#include "base/nearest_word.h"
#include "base/size_text.h"
#include "base/trace_setting.h"

extern char** environ;  // NOLINT: declared by no header in standard C++

namespace hocket::environment {
namespace {

constexpr std::string_view kPrefix = "HOCKET_";

std::string accepted(const Setting& setting) {
  const std::string range = std::to_string(setting.minimum) + " to " + std::to_string(setting.maximum);
  switch (setting.kind) {
    case Kind::kFlag:
      return "1, on, yes, true, 0, off, no or false";
    case Kind::kFlagOrFile:
      return "1, on, yes, true, 0, off, no, false or the name of a file that ends in .json";
    case Kind::kInteger:
      return "a whole number of " + std::string(setting.choices) + " from " + range;
    case Kind::kSize:
      return std::string("a number of bytes such as ") + kSizeExamples;
    case Kind::kChoice:
      return "one of " + std::string(setting.choices);
    case Kind::kText:
      return setting.choices;
  }
  return "";
}

Status bad_value(const Setting& setting, std::string_view text) {
  return {Code::kInvalidArgument, std::string(setting.name) + "=" + std::string(text) +
                                      " can't be understood; accepted is " + accepted(setting)};
}

std::string_view value_of(const Setting& setting) {
  const char* text = std::getenv(setting.name);
  return text != nullptr && *text != '\0' ? text : setting.default_value;
}

std::string_view or_default(const Setting& setting, std::string_view text) {
  return text.empty() ? setting.default_value : text;
}

Result<const Setting*> find_of_kind(std::string_view name, Kind kind) {
  const Setting* setting = find(name);
  if (setting == nullptr) return Status(Code::kInvalidArgument, unknown_name(name));
  const bool is_flag = kind == Kind::kFlag && setting->kind == Kind::kFlagOrFile;
  if (setting->kind != kind && !is_flag) {
    return Status(Code::kInvalidArgument, std::string(name) + " is asked for as another kind of setting than it is");
  }
  return setting;
}

template <typename T>
Result<T> get(std::string_view name, Kind kind, Result<T> (*parse)(const Setting&, std::string_view)) {
  auto setting = find_of_kind(name, kind);
  if (!setting.is_ok()) return setting.take_status();
  return parse(*setting.value(), value_of(*setting.value()));
}

std::optional<int64_t> to_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A letter written twice or a double one written once, or two neighbours exchanged.
bool is_slip(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  const auto length = static_cast<size_t>(std::mismatch(b.begin(), b.end(), a.begin()).first - b.begin());
  if (a.size() == b.size()) {
    return length + 1 < a.size() && a[length] == b[length + 1] && a[length + 1] == b[length] &&
           a.substr(length + 2) == b.substr(length + 2);
  }
  return a.size() == b.size() + 1 && length > 0 && a[length] == a[length - 1] &&
         a.substr(length + 1) == b.substr(length);
}

constexpr size_t kShortWord = 6;

// "HOCKET_BCAST" -> "HOCKET_BROADCAST": what forces the algorithm of what MPI calls so.
std::string_view named_as_mpi_does(std::string_view name) {
  constexpr std::string_view kSettings[][2] = {
#define HOCKET_COLLECTIVE(constant, name, setting, function, ...) {"HOCKET_" #setting, #function},
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, function, ...) {"HOCKET_" #setting, #function},
#include "base/collectives.def"
  };
  constexpr std::string_view kMpi = "MPI_";
  for (const auto& [setting, function] : kSettings) {
    const std::string_view own = function.substr(kMpi.size());
    const bool is_it = name.size() == kPrefix.size() + own.size() &&
                       std::equal(own.begin(), own.end(), name.begin() + kPrefix.size(), [](char mpi, char letter) {
                         return (mpi >= 'a' && mpi <= 'z' ? mpi - 'a' + 'A' : mpi) == letter;
                       });
    if (is_it) return setting;
  }
  return {};
}

// The setting that a user who wrote `name` probably meant; nullptr where a guess would mislead.
const Setting* likely_meant(std::string_view name) {
  if (const std::string_view setting = named_as_mpi_does(name); !setting.empty()) return find(setting);
  const Setting* nearest = nullptr;
  size_t least = std::numeric_limits<size_t>::max();
  for (const Setting& setting : settings()) {
    const size_t distance = edit_distance(name, setting.name);
    if (distance >= least) continue;
    least = distance;
    nearest = &setting;
  }
  // At most a third of the word's own letters wrong. Of a short word only slips: HOCKET_STATUS, HOCKET_CMD and
  // HOCKET_LIB are words that others may have set.
  const size_t own_letters = name.size() > kPrefix.size() ? name.size() - kPrefix.size() : 0;
  if (own_letters > kShortWord) return least <= own_letters / 3 ? nearest : nullptr;
  return nearest != nullptr && is_slip(name, nearest->name) ? nearest : nullptr;
}

}  // namespace

const Setting* find(std::string_view name) {
  const auto all = settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<bool> parse_flag(const Setting& setting, std::string_view text) {
  const std::string_view word = or_default(setting, text);
  for (std::string_view yes : {"1", "on", "yes", "true"}) {
    if (word == yes) return true;
  }
  for (std::string_view no : {"0", "off", "no", "false"}) {
    if (word == no) return false;
  }
  if (setting.kind == Kind::kFlagOrFile && names_file(word)) {
    const std::string problem = problem_of_file_pattern(word);
    if (problem.empty()) return true;
    return Status(Code::kInvalidArgument, std::string(setting.name) + "=" + std::string(word) + ": " + problem +
                                              "; in a file's name %h is the host's name and %% is %");
  }
  return bad_value(setting, text);
}

bool names_file(std::string_view text) {
  constexpr std::string_view kEnding = ".json";
  return text.size() > kEnding.size() && text.ends_with(kEnding);
}

Result<int64_t> parse_integer(const Setting& setting, std::string_view text) {
  const auto number = to_number(or_default(setting, text));
  if (!number || *number < setting.minimum || *number > setting.maximum) return bad_value(setting, text);
  return *number;
}

Result<uint64_t> parse_size(const Setting& setting, std::string_view text) {
  const Result<uint64_t> bytes = hocket::parse_size(or_default(setting, text));
  // No table has negative bounds for a size.
  const bool is_within = bytes.is_ok() && bytes.value() >= static_cast<uint64_t>(setting.minimum) &&
                         bytes.value() <= static_cast<uint64_t>(setting.maximum);
  if (!is_within) return bad_value(setting, text);
  return bytes.value();
}

Result<int> parse_enum(const Setting& setting, std::string_view text) {
  const std::string_view word = or_default(setting, text);
  std::string_view rest = setting.choices;
  for (int place = 0;; ++place) {
    const size_t bar = rest.find('|');
    if (rest.substr(0, bar) == word) return place;
    if (bar == std::string_view::npos) return bad_value(setting, text);
    rest.remove_prefix(bar + 1);
  }
}

Status check(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::kFlag:
    case Kind::kFlagOrFile:
      return parse_flag(setting, text).take_status();
    case Kind::kInteger:
      return parse_integer(setting, text).take_status();
    case Kind::kSize:
      return parse_size(setting, text).take_status();
    case Kind::kChoice:
      return parse_enum(setting, text).take_status();
    case Kind::kText:
      if (setting.name == std::string_view("HOCKET_TRACE")) return parse_trace_setting(text).take_status();
      return Status::ok();
  }
  return Status::ok();
}

Result<bool> get_flag(std::string_view name) { return get(name, Kind::kFlag, parse_flag); }
Result<int64_t> get_integer(std::string_view name) { return get(name, Kind::kInteger, parse_integer); }
Result<uint64_t> get_size(std::string_view name) { return get(name, Kind::kSize, parse_size); }
Result<int> get_enum(std::string_view name) { return get(name, Kind::kChoice, parse_enum); }

Result<std::string> get_text(std::string_view name) {
  const Setting* setting = find(name);
  if (setting == nullptr) return Status(Code::kInvalidArgument, unknown_name(name));
  const std::string_view text = value_of(*setting);
  HOCKET_TRY(check(*setting, text));
  return std::string(text);
}

bool is_set(std::string_view name) {
  const Setting* setting = find(name);
  if (setting == nullptr) return false;
  const char* text = std::getenv(setting->name);
  return text != nullptr && *text != '\0';
}

std::string unknown_name(std::string_view name) {
  const Setting* meant = likely_meant(name);
  const std::string sentence = "`" + std::string(name) + "` is not a setting of hocket; ";
  return sentence + (meant != nullptr ? std::string("did you mean ") + meant->name + "?"
                                      : std::string("`hocket info` lists those that are"));
}

Problems problems() {
  Problems found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    if (!assignment.starts_with(kPrefix)) continue;
    const size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = assignment.substr(0, equals);
    const Setting* setting = find(name);
    if (setting == nullptr) {
      (likely_meant(name) != nullptr ? found.errors : found.doubts).push_back(unknown_name(name));
    } else if (Status status = check(*setting, assignment.substr(equals + 1)); !status.is_ok()) {
      found.errors.emplace_back(status.message());
    }
  }
  return found;
}

Status check_process() {
  std::string text;
  for (const std::string& error : problems().errors) text += (text.empty() ? "" : "; ") + error;
  return text.empty() ? Status::ok() : Status(Code::kInvalidArgument, std::move(text));
}

}  // namespace hocket::environment
