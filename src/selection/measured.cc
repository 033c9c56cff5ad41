// SPDX-License-Identifier: BSD-3-Clause
#include "selection/measured.h"

#include <algorithm>

#include "base/size_text.h"
#include "selection/matching.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

bool is_near(const Place& measured, const Place& here) {
  if (measured.nodes != here.nodes || measured.ranks != here.ranks) return false;
  if (!measured.bytes || !here.bytes) return measured.bytes == here.bytes;
  constexpr uint64_t kShort = 1024;
  if (std::max(*measured.bytes, *here.bytes) <= kShort) return true;
  return *measured.bytes <= 2 * *here.bytes && *here.bytes <= 2 * *measured.bytes;
}

}  // namespace

Place place_of(const Query& query) {
  const bool has_bytes =
      query.collective != schedule::Collective::kBarrier && schedule::lengths_are_agreed(query.collective);
  return {has_bytes ? std::optional(query.bytes) : std::nullopt, query.node_count(), query.ranks_a_node()};
}

std::optional<Place> place_of(std::string_view note) {
  constexpr std::string_view kBefore = "at ";
  constexpr std::string_view kAfter = " ranks";
  if (note.size() <= kBefore.size() + kAfter.size() || !note.starts_with(kBefore) || !note.ends_with(kAfter)) return {};
  note.remove_prefix(kBefore.size());
  note.remove_suffix(kAfter.size());
  Place place;
  if (const size_t comma = note.find(", "); comma != std::string_view::npos) {
    Result<uint64_t> bytes = parse_size(note.substr(0, comma));
    if (!bytes.is_ok()) return {};
    place.bytes = bytes.value();
    note.remove_prefix(comma + 2);
  }
  if (const size_t cross = note.find('x'); cross != std::string_view::npos) {
    Result<uint64_t> nodes = parse_size(note.substr(0, cross));
    if (!nodes.is_ok()) return {};
    place.nodes = nodes.value();
    note.remove_prefix(cross + 1);
  }
  Result<uint64_t> ranks = parse_size(note);
  if (!ranks.is_ok()) return {};
  place.ranks = ranks.value();
  return place;
}

std::string to_text(const Place& place) {
  const std::string ranks = place.nodes == 1
                                ? plural(place.ranks, "rank")
                                : std::to_string(place.nodes) + "x" + std::to_string(place.ranks) + " ranks";
  return place.bytes ? size_to_text(*place.bytes) + (*place.bytes == 1 ? " byte, " : " bytes, ") + ranks : ranks;
}

std::optional<Measured> best_measured(const Query& query, const Table& table) {
  const Match match = find_match(query, table, nullptr);
  if (match.rule == nullptr || match.rule->median_us <= 0) return {};
  const Rule& rule = *match.rule;
  const std::optional<Place> place = place_of(rule.note);
  if (!place || !is_near(*place, place_of(query))) return {};
  const bool is_shipped = table.source().starts_with(Table::shipped().source());
  const uint64_t bytes = place->bytes.value_or(0);
  if (rule.next_us > 0 && rule.next_us < rule.median_us) return Measured{rule.next, rule.next_us, bytes, is_shipped};
  return Measured{to_text(rule.spec), rule.median_us, bytes, is_shipped};
}

}  // namespace hocket::selection
