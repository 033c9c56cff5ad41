// SPDX-License-Identifier: BSD-3-Clause
#include "words/collective_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "words/words.h"

namespace hocket::command {
namespace {

using schedule::Collective;

// MPI's name where it isn't hocket's with MPI_ before it.
constexpr std::string_view kBcast = "bcast";

std::string plain(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  constexpr std::string_view kPrefix = "mpi_";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (int i = 0; i < schedule::kCollectives; ++i) names.push_back(schedule::name(static_cast<Collective>(i)));
  return names;
}

// Letters to be put in, left out or replaced.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<Collective> find_collective(std::string_view word) {
  const std::string text = plain(word);
  return text == kBcast ? Collective::kBroadcast : schedule::collective_from_name(text);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view found;
  size_t least = 1 + word.size() / 3;
  for (const std::string_view name : known) {
    const size_t differences = distance(word, name);
    if (differences > least || (differences == least && !found.empty())) continue;
    least = differences;
    found = name;
  }
  return found;
}

std::string question_after(std::string_view meant) {
  return meant.empty() ? "" : "did you mean `" + std::string(meant) + "`? ";
}

Result<Collective> read_collective(const std::string& word, std::span<const std::string_view> others) {
  if (const auto found = find_collective(word)) return *found;
  std::vector<std::string_view> names = all_names();
  names.insert(names.end(), others.begin(), others.end());
  std::string listed;
  for (const std::string_view name : names) listed.append(listed.empty() ? "" : ", ").append(name);
  names.push_back(kBcast);
  std::string_view meant = nearest(plain(word), names);
  if (meant == kBcast) meant = schedule::name(Collective::kBroadcast);
  return Status(Code::kInvalidArgument,
                "`" + word + "` is not a collective: " + question_after(meant) + "there are " + listed);
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
