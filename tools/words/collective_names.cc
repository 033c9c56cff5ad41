// SPDX-License-Identifier: BSD-3-Clause
#include "words/collective_names.h"

#include <algorithm>

#include "schedule/collective_names.h"
#include "words/words.h"

namespace hocket::command {

using schedule::Collective;

Result<Collective> read_collective(const std::string& word, std::span<const std::string_view> others) {
  if (const auto found = schedule::find_collective(word)) return *found;
  return Status(Code::kInvalidArgument, schedule::not_a_collective(word, others));
}

Result<Collective> read_any_collective(const std::string& word, std::span<const std::string_view> others) {
  if (const auto found = schedule::find_any_collective(word)) return *found;
  return Status(Code::kInvalidArgument, schedule::not_any_collective(word, others));
}

Result<Collective> read_collective_of_form(const std::string& word) {
  if (const auto found = schedule::find_collective_of_form(word)) return *found;
  return Status(Code::kInvalidArgument, schedule::not_any_collective(word));
}

Result<std::vector<Collective>> read_collectives(const std::string& text) {
  constexpr std::string_view kAll = "all";
  std::vector<Collective> found;
  for (const std::string& word : split_at_commas(text)) {
    if (word == kAll) {
      for (int i = 0; i < schedule::kCollectives; ++i) found.push_back(static_cast<Collective>(i));
      continue;
    }
    Result<Collective> one = read_collective(word, {&kAll, 1});
    if (!one.is_ok()) return one.take_status();
    found.push_back(one.value());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace hocket::command
