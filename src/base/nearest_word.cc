// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hocket {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view found;
  size_t least = 1 + word.size() / 3;
  for (const std::string_view name : known) {
    const size_t differences = edit_distance(word, name);
    if (differences > least || (differences == least && !found.empty())) continue;
    least = differences;
    found = name;
  }
  return found;
}

std::string question_after(std::string_view meant) {
  return meant.empty() ? "" : "did you mean `" + std::string(meant) + "`? ";
}

}  // namespace hocket
