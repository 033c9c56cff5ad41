// SPDX-License-Identifier: BSD-3-Clause
#include "words/grid.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>

#include "words/words.h"

namespace hocket::command {
namespace {

constexpr uint32_t kMostDimensions = 6;
constexpr uint64_t kMostPoints = 1 << 20;
constexpr uint64_t kMostBlocks = 1 << 24;
constexpr const char* kFull = "full";
constexpr const char* kFaces = "faces";

using Made = Result<std::shared_ptr<const schedule::Neighbours>>;

Status wrong(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::optional<uint32_t> positive(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

// As even as their product allows, the longest first.
std::vector<uint32_t> even_lengths(uint32_t ranks, uint32_t dimensions) {
  std::vector<uint32_t> lengths;
  for (uint32_t left = dimensions; left > 0; --left) {
    const auto is_enough = [&](uint64_t length) {
      uint64_t points = 1;
      for (uint32_t d = 0; d < left && points < ranks; ++d) points *= length;
      return points >= ranks && ranks % length == 0;
    };
    uint32_t length = 1;
    while (!is_enough(length)) ++length;
    lengths.push_back(length);
    ranks /= length;
  }
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  return lengths;
}

Result<std::vector<uint32_t>> read_lengths(const std::string& text, uint32_t ranks) {
  if (text.empty() || text.ends_with('d')) {
    const auto dimensions = text.empty() ? 2 : positive(std::string_view(text).substr(0, text.size() - 1));
    if (!dimensions || *dimensions > kMostDimensions)
      return wrong("--grid " + text + ": 1d to " + std::to_string(kMostDimensions) + "d can be asked for");
    if (ranks == 0) return wrong("--grid " + (text.empty() ? "2d" : text) + ": of how many ranks? Give --ranks");
    return even_lengths(ranks, *dimensions);
  }
  std::vector<uint32_t> lengths;
  uint64_t points = 1;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    const auto length = positive(std::string_view(text).substr(begin, end - begin));
    if (!length)
      return wrong("--grid " + text +
                   " is neither lengths, as 4x2, nor a number of dimensions, as 3d, for as even ones "
                   "as the ranks allow");
    lengths.push_back(*length);
    points *= *length;
    if (points > kMostPoints || lengths.size() > kMostDimensions)
      return wrong("--grid " + text + ": at most " + std::to_string(kMostDimensions) + " dimensions and " +
                   std::to_string(kMostPoints) + " ranks can be served");
    begin = end + 1;
  }
  if (ranks != 0 && points != ranks)
    return wrong("--grid " + text + " has " + std::to_string(points) + " points, and there are " +
                 std::to_string(ranks) + " ranks; it must have one for each");
  return lengths;
}

Result<std::vector<bool>> read_periods(const std::string& text, size_t dimensions) {
  std::vector<bool> periods;
  for (const std::string& word : split_at_commas(text)) {
    if (word != "yes" && word != "no")
      return wrong(
          std::string("--periodic ").append(text).append(": `").append(word).append("` is neither yes nor no"));
    periods.push_back(word == "yes");
  }
  if (periods.size() == 1) periods.resize(dimensions, periods.front());
  if (periods.size() != dimensions)
    return wrong("--periodic " + text + " should say yes or no once, or for each of " + std::to_string(dimensions) +
                 " dimensions");
  return periods;
}

}  // namespace

std::vector<int32_t> GridShape::offsets() const {
  uint32_t points = 1;
  for (uint32_t d = 0; d < dimensions(); ++d) points *= 3;
  std::vector<int32_t> offsets;
  for (uint32_t point = 0; point < points; ++point) {
    if (point == points / 2) continue;  // the rank itself
    uint32_t rest = point;
    uint32_t power = points;
    for (uint32_t d = 0; d < dimensions(); ++d) {
      power /= 3;
      offsets.push_back(static_cast<int32_t>(rest / power) - 1);
      rest %= power;
    }
  }
  return offsets;
}

uint32_t GridShape::points() const { return std::accumulate(lengths.begin(), lengths.end(), 1u, std::multiplies<>()); }

GridWords GridShape::words() const {
  GridWords words;
  for (const uint32_t length : lengths) words.lengths += (words.lengths.empty() ? "" : "x") + std::to_string(length);
  words.periodic.clear();
  for (const bool periodic : is_periodic) {
    if (!words.periodic.empty()) words.periodic += ',';
    words.periodic += periodic ? "yes" : "no";
  }
  if (std::adjacent_find(is_periodic.begin(), is_periodic.end(), std::not_equal_to<>()) == is_periodic.end())
    words.periodic = is_periodic.front() ? "yes" : "no";
  words.stencil = is_full ? kFull : kFaces;
  return words;
}

Result<GridShape> read_grid(const GridWords& words, uint32_t& ranks) {
  GridShape grid;
  Result<std::vector<uint32_t>> lengths = read_lengths(words.lengths, ranks);
  if (!lengths.is_ok()) return lengths.take_status();
  grid.lengths = lengths.take();
  Result<std::vector<bool>> periods = read_periods(words.periodic, grid.lengths.size());
  if (!periods.is_ok()) return periods.take_status();
  grid.is_periodic = periods.take();
  if (words.stencil != kFull && words.stencil != kFaces)
    return wrong("--stencil " + words.stencil + ": there are faces and full");
  grid.is_full = words.stencil == kFull;
  ranks = grid.points();
  const uint64_t neighbours =
      grid.is_full ? grid.offsets().size() / grid.dimensions() : uint64_t{2} * grid.dimensions();
  if (neighbours * ranks > kMostBlocks)
    return wrong("--grid " + grid.words().lengths + ": " + std::to_string(ranks) + " ranks with " +
                 std::to_string(neighbours) + " neighbours each are more than can be looked at");
  return grid;
}

Made neighbours_on(const GridShape& grid) {
  if (!grid.is_full) return schedule::Neighbours::of_grid(grid.lengths, grid.is_periodic, grid.points());
  return schedule::Neighbours::of_stencil(grid.lengths, grid.is_periodic, grid.offsets(), grid.points());
}

Made listed_neighbours_on(const GridShape& grid) {
  Made whole = neighbours_on(grid);
  if (!whole.is_ok()) return whole;
  const auto there = [](std::span<const uint32_t> ranks) {
    std::vector<uint32_t> list;
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(list),
                 [](uint32_t rank) { return rank != schedule::kNoRank; });
    return list;
  };
  std::vector<schedule::Neighbours::Lists> lists;
  for (uint32_t rank = 0; rank < whole.value()->ranks(); ++rank)
    lists.push_back({there(whole.value()->sources(rank)), there(whole.value()->destinations(rank))});
  return schedule::Neighbours::of_lists(lists);
}

}  // namespace hocket::command
