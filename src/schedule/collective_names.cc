// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/collective_names.h"

#include <array>
#include <vector>

#include "base/nearest_word.h"

namespace hocket::schedule {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kAllCollectives> kMpiNames = {
#define HOCKET_COLLECTIVE(constant, name, setting, function, ...) #function,
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, function, ...) #function,
#include "base/collectives.def"
};

std::string plain(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  constexpr std::string_view kPrefix = "mpi_";
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

}  // namespace

std::optional<Collective> find_any_collective(std::string_view word) {
  const std::string text = plain(word);
  for (size_t i = 0; i < kMpiNames.size(); ++i)
    if (plain(kMpiNames[i]) == text) return static_cast<Collective>(i);
  return collective_from_name(text);
}

std::optional<Collective> find_collective_of_form(std::string_view word) {
  if (const auto found = find_any_collective(word)) return found;
  std::string text = plain(word);
  for (const std::string_view suffix : {"_c", "_init"})
    if (text.ends_with(suffix)) text.resize(text.size() - suffix.size());
  if (const auto found = find_any_collective(text)) return found;
  return text.starts_with("i") ? find_any_collective(text.substr(1)) : std::nullopt;
}

std::optional<Collective> find_collective(std::string_view word) {
  const std::optional<Collective> found = find_any_collective(word);
  return found && is_among_neighbors(*found) ? std::nullopt : found;
}

std::string not_any_collective(std::string_view word, std::span<const std::string_view> others) {
  std::vector<std::string_view> more = {
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, ...) #name,
#include "base/collectives.def"
  };
  more.insert(more.end(), others.begin(), others.end());
  return not_a_collective(word, more);
}

std::string not_a_collective(std::string_view word, std::span<const std::string_view> others) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kCollectives; ++i) names.push_back(name(static_cast<Collective>(i)));
  names.insert(names.end(), others.begin(), others.end());
  std::string listed;
  for (const std::string_view one : names) listed.append(listed.empty() ? "" : ", ").append(one);
  // MPI's names may be meant, but hocket's are told.
  std::vector<std::string> of_mpi;
  for (const std::string_view one : std::span(kMpiNames).first(kCollectives)) of_mpi.push_back(plain(one));
  names.insert(names.end(), of_mpi.begin(), of_mpi.end());
  std::string_view meant = nearest_word(plain(word), names);
  if (const auto found = find_any_collective(meant)) meant = name(*found);
  return "`" + std::string(word) + "` is not a collective: " + question_after(meant) + "there are " + listed;
}

}  // namespace hocket::schedule
