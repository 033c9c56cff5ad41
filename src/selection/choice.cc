// SPDX-License-Identifier: BSD-3-Clause
// From a table's rule to the numbers of a call.
#include "selection/choice.h"

#include <algorithm>

#include "algorithms/facts.h"
#include "selection/cost_model.h"
#include "selection/matching.h"
#include "selection/parts.h"

namespace hocket::selection {
namespace {

uint64_t divided_up(uint64_t value, uint64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

uint64_t count_of(const Query& query) { return divided_up(query.bytes, std::max<uint32_t>(query.element_bytes, 1)); }

// How many elements a segment may have at most; 0: as many as there are.
uint64_t elements_per_segment(const Query& query, const Spec& spec) {
  const uint32_t element_bytes = std::max<uint32_t>(query.element_bytes, 1);
  uint64_t bytes = spec.segment_bytes;
  if (algorithms::facts_of(*spec.algorithm).uses_slots && bytes == 0) bytes = query.slot_bytes;
  return bytes == 0 ? 0 : std::max<uint64_t>(bytes / element_bytes, 1);
}

void choose_parts(const Query& query, const Table& table, const Spec& spec, Choice& choice) {
  for (uint32_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    const PartMatch part = match_part(query, table, spec, i);
    if (part.match.spec.algorithm == nullptr) continue;
    const Choice inner = cut(part.asked.query, part.match.spec);
    choice.parts[i] = {inner.algorithm, inner.degree, inner.segments, reason_of(part.match, table)};
  }
}

}  // namespace

void Choice::fill(schedule::Shape& shape) const {
  shape.segments = segments;
  shape.degree = degree;
  for (int i = 0; i < schedule::kMaxParts; ++i) {
    shape.parts[i] = {};
    if (parts[i].algorithm == nullptr) continue;
    shape.parts[i] = {.build = parts[i].algorithm->build, .degree = parts[i].degree, .segments = parts[i].segments};
  }
}

bool is_same(const Choice& one, const Choice& other) {
  const auto is_same_part = [](const PartChoice& a, const PartChoice& b) {
    return a.algorithm == b.algorithm && a.degree == b.degree && a.segments == b.segments;
  };
  return one.algorithm == other.algorithm && one.degree == other.degree && one.segments == other.segments &&
         one.calls == other.calls &&
         std::equal(std::begin(one.parts), std::end(one.parts), std::begin(other.parts), is_same_part);
}

uint32_t degree_of(const Query& query, const Spec& spec) {
  if (spec.degree == kFlat) return std::max<uint32_t>(query.ranks, 2) - 1;
  const auto by_length = spec.algorithm->degree_by_length;
  return spec.degree == 0 && by_length != nullptr ? by_length(query.ranks, query.bytes) : spec.degree;
}

Choice cut(const Query& query, const Spec& spec) {
  const uint64_t count = count_of(query);
  Choice choice;
  choice.algorithm = spec.algorithm;
  choice.degree = degree_of(query, spec);
  choice.chunk_elements = count;
  if (const uint64_t longest = elements_per_segment(query, spec); longest != 0 && count != 0) {
    const uint64_t most_segments = spec.algorithm->segmented ? std::max<uint32_t>(query.max_segments, 1) : 1;
    choice.calls = divided_up(divided_up(count, longest), most_segments);
    choice.chunk_elements = divided_up(count, choice.calls);
    choice.segments = static_cast<uint32_t>(divided_up(choice.chunk_elements, longest));
  }
  choice.segment_bytes =
      divided_up(choice.chunk_elements, choice.segments) * std::max<uint32_t>(query.element_bytes, 1);
  if (spec.piece_bytes != 0)
    choice.degree = static_cast<uint32_t>(
        std::clamp<uint64_t>(choice.segment_bytes / spec.piece_bytes, 1, std::max<uint32_t>(query.ranks, 1)));
  return choice;
}

bool is_worth_trying(const Query& query, const algorithms::Algorithm& algorithm) {
  if (algorithm.takes_tree) return false;
  if (!algorithms::heeds_nodes(algorithm)) return true;
  if (query.node_count() > 1) return query.ranks_a_node() > 1;
  // Over the caches or memories of one node, where it is known where the ranks are, and what it takes to get across.
  const bool are_apart = query.caches != nullptr || query.sockets != nullptr;
  return query.has_cores && are_apart && query.domains != nullptr && query.domains->most() > 1;
}

std::vector<uint32_t> degrees_worth_trying(const Query& query, const algorithms::Algorithm& algorithm) {
  std::vector<uint32_t> degrees(algorithm.degrees.begin(), algorithm.degrees.end());
  if (query.node_count() > 1)
    degrees.insert(degrees.end(), algorithm.degrees_over_nodes.begin(), algorithm.degrees_over_nodes.end());
  if (degrees.empty() || degrees.front() == kFlat) degrees.insert(degrees.begin(), 0);
  // As many as there can be, where that is what an algorithm does unasked.
  if (degrees.size() > 1 && degrees[1] == kFlat && algorithm.degree_by_length == nullptr)
    degrees.erase(degrees.begin() + 1);
  // More lanes than ranks are as many as there are ranks.
  const auto is_no_other = [&](uint32_t degree) { return degree != kFlat && degree >= query.ranks_a_node(); };
  if (algorithms::is_composition(algorithm))
    degrees.erase(std::remove_if(degrees.begin() + 1, degrees.end(), is_no_other), degrees.end());
  return degrees;
}

Spec with_degree(Spec spec) {
  const auto degrees = spec.algorithm->degrees;
  if (degrees.empty() || spec.algorithm->degree_by_length != nullptr) return spec;
  if (spec.degree == 0) spec.degree = degrees.front();
  if (spec.degree == kFlat && degrees.front() == kFlat) spec.degree = 0;
  return spec;
}

bool matches(const Query& query, const Table& table, const Rule& rule) {
  if (rule.collective != query.collective || !names_wire(rule.wire, table.wire())) return false;
  if (rule.when != When::kAlways && (rule.when == When::kOversubscribed) != query.oversubscribed) return false;
  return rule.ranks.contains(query.ranks) && rule.bytes.contains(query.bytes) &&
         rule.nodes.contains(query.node_count()) && rule.ranks_a_node.contains(query.ranks_a_node());
}

Match find_match(const Query& query, const Table& table, const Spec* forced) {
  Match match;
  const auto serves = [&](const Spec& spec, uint32_t line) {
    std::string objection = why_not(query, spec);
    if (objection.empty()) {
      match.spec = spec;
      return true;
    }
    match.refused.push_back({spec, line, std::move(objection)});
    return false;
  };
  if (forced != nullptr) {
    match.ground = Ground::kForced;
    serves(*forced, 0);
    return match;
  }
  match.ground = Ground::kRule;
  for (const Rule& rule : table.rules()) {
    if (!matches(query, table, rule)) continue;
    if (rule.spec.is_mpis && query.is_of_mpi && !match.refused.empty()) {
      match.refused.push_back({rule.spec, rule.line, "a line before it is for calls of this length"});
      continue;
    }
    if (!serves(rule.spec, rule.line)) continue;
    match.rule = &rule;
    return match;
  }
  match.ground = Ground::kModel;
  for (const Prediction& prediction : predict(query, table)) {
    if (!serves(prediction.spec, 0)) continue;
    match.predicted_us = prediction.us;
    return match;
  }
  // What can serve this very call, but not the one that stands for it.
  match.ground = Ground::kRegistry;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    const bool belongs = algorithm->collective == schedule::base_of(query.collective);
    if (belongs && is_worth_trying(query, *algorithm) && serves(Spec{algorithm}, 0)) return match;
  }
  return match;
}

std::string reason_of(const Match& match, const Table& table) {
  switch (match.ground) {
    case Ground::kForced:
      return "forced";
    case Ground::kRule:
      return table.source() + ", line " + std::to_string(match.rule->line);
    case Ground::kModel:
      return "no line of the " + table.source() + " fits; the lowest predicted time";
    case Ground::kRegistry:
      break;
  }
  return "no line of the " + table.source() + " fits; the first algorithm that can";
}

Result<Choice> choose(const Query& query, const Table& table, const Spec* forced) {
  const Match match = find_match(query, table, forced);
  if (match.spec.is_mpis) {
    Choice choice;
    choice.reason = reason_of(match, table);
    return choice;
  }
  if (match.spec.algorithm == nullptr) {
    const std::string what(schedule::name(query.collective));
    if (forced != nullptr)
      return Status(Code::kInvalidArgument,
                    what + " can't be served by the forced " + to_text(*forced) + ": " + match.refused.back().why);
    return Status(Code::kNotSupported, "no algorithm of " + what + " can serve " + std::to_string(query.ranks) +
                                           " ranks and " + size_to_text(query.bytes) + " bytes" +
                                           (match.refused.empty() ? "" : ": " + match.refused.back().why));
  }
  Choice choice = cut(query, match.spec);
  choose_parts(query, table, match.spec, choice);
  choice.reason = reason_of(match, table);
  return choice;
}

}  // namespace hocket::selection
