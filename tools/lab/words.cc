// SPDX-License-Identifier: BSD-3-Clause
#include "lab/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace hocket::lab {
namespace {

constexpr size_t kLongestName = 32;
constexpr uint64_t kLongestDuration_ns = 3'600'000'000'000;

struct Unit {
  const char* name;
  double ns;
};
constexpr std::array kUnits = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};

Status wrong(const std::string& what, const std::string& word, const std::string& accepted) {
  return {Code::kInvalidArgument, what + " `" + word + "` can't be understood: " + accepted};
}

// The number at the beginning of `text`, which loses it. False: there is none that is finite and not negative.
bool take_number(std::string_view& text, double* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || !std::isfinite(*number) || *number < 0 || std::signbit(*number)) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace

Result<int> parse_node(const std::string& word, int nodes) {
  const std::string accepted = "n0 to n" + std::to_string(nodes - 1) + ", or all";
  if (word == "all") return kAllNodes;
  int node = -1;
  const char* end = word.data() + word.size();
  if (word.size() < 2 || word[0] != 'n' || (word[1] == '0' && word.size() > 2)) return wrong("node", word, accepted);
  const auto [stop, error] = std::from_chars(word.data() + 1, end, node);
  if (error != std::errc() || stop != end || node < 0) return wrong("node", word, accepted);
  if (node >= nodes) return Status(Code::kInvalidArgument, "there is no node `" + word + "`: there are " + accepted);
  return node;
}

Status check_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (!name.empty() && name.size() <= kLongestName && name[0] != '-' && std::all_of(name.begin(), name.end(), fits))
    return Status::ok();
  return wrong("the lab's name", name,
               "1 to 32 lower-case letters, digits and dashes, the first of them no dash, are accepted");
}

Result<uint64_t> parse_percent(const std::string& word) {
  std::string_view rest = word;
  double percent = 0;
  if (!take_number(rest, &percent) || (!rest.empty() && rest != "%") || percent > 100)
    return wrong("the share", word, "percent from 0 to 100 are accepted, such as 1% or 0.5%");
  return static_cast<uint64_t>(std::llround(percent / 100 * static_cast<double>(kWhole)));
}

std::string percent_text(uint64_t share) {
  return number_text(static_cast<double>(share) / static_cast<double>(kWhole) * 100) + " %";
}

Result<uint64_t> parse_duration_ns(const std::string& word) {
  std::string_view rest = word;
  double number = 0;
  const std::string accepted = "a number with ns, us, ms or s is accepted, such as 250us, up to 3600s";
  if (!take_number(rest, &number)) return wrong("the time", word, accepted);
  if (rest.empty() && number == 0) return uint64_t{0};
  for (const Unit& unit : kUnits) {
    if (rest != unit.name) continue;
    if (number * unit.ns > static_cast<double>(kLongestDuration_ns)) return wrong("the time", word, accepted);
    return static_cast<uint64_t>(std::llround(number * unit.ns));
  }
  return wrong("the time", word, accepted);
}

std::string duration_text(uint64_t duration_ns) {
  const auto* unit = &kUnits[0];
  for (const Unit& larger : kUnits) {
    if (static_cast<double>(duration_ns) >= larger.ns) unit = &larger;
  }
  return number_text(static_cast<double>(duration_ns) / unit->ns) + " " + unit->name;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace hocket::lab
