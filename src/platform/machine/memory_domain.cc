// SPDX-License-Identifier: BSD-3-Clause
#include "platform/machine/memory_domain.h"

#include <charconv>
#include <filesystem>
#include <fstream>

namespace hocket::platform {
namespace {

bool take_number(std::string_view& text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_character(std::string_view& text, char character) {
  if (text.empty() || text.front() != character) return false;
  text.remove_prefix(1);
  return true;
}

bool is_within(const cpu_set_t& part, const cpu_set_t& whole) {
  cpu_set_t common;
  CPU_AND(&common, &part, &whole);
  return CPU_COUNT(&part) > 0 && CPU_EQUAL(&common, &part);
}

// The 3 of "node3".
std::optional<uint32_t> number_of(std::string_view name) {
  constexpr std::string_view kPrefix = "node";
  uint32_t number = 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (!take_number(name, number) || !name.empty()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<cpu_set_t> parse_processors(std::string_view list) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (list.empty()) return processors;
  do {
    uint32_t first = 0, last = 0;
    if (!take_number(list, first)) return std::nullopt;
    last = first;
    if (take_character(list, '-') && !take_number(list, last)) return std::nullopt;
    if (last < first) return std::nullopt;
    for (uint32_t processor = first; processor <= last && processor < CPU_SETSIZE; ++processor)
      CPU_SET(processor, &processors);
  } while (take_character(list, ','));
  if (!list.empty()) return std::nullopt;
  return processors;
}

std::optional<uint32_t> memory_domain_of(const cpu_set_t& allowed, const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::optional<uint32_t> number = number_of(entry.path().filename().string());
    if (!number) continue;
    std::ifstream file(entry.path() / "cpulist");
    std::string list;
    std::getline(file, list);
    const std::optional<cpu_set_t> processors = parse_processors(list);
    if (processors && is_within(allowed, *processors)) return number;
  }
  return std::nullopt;
}

}  // namespace hocket::platform
