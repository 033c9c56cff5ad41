// SPDX-License-Identifier: BSD-3-Clause
// From a table's rule to the numbers of a call.
#include "selection/choice.h"

#include <algorithm>

#include "selection/cost_model.h"
#include "selection/matching.h"

namespace hocket::selection {
namespace {

uint64_t divided_up(uint64_t value, uint64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

uint64_t count_of(const Query& query) { return divided_up(query.bytes, std::max<uint32_t>(query.element_bytes, 1)); }

// How many elements a segment may have at most; 0: as many as there are.
uint64_t elements_per_segment(const Query& query, const Spec& spec) {
  const uint32_t element_bytes = std::max<uint32_t>(query.element_bytes, 1);
  uint64_t bytes = spec.segment_bytes;
  if (spec.algorithm->uses_slots && bytes == 0) bytes = query.slot_bytes;
  return bytes == 0 ? 0 : std::max<uint64_t>(bytes / element_bytes, 1);
}

uint32_t degree_of(const Query& query, const Spec& spec) {
  if (spec.degree == kFlat) return std::max<uint32_t>(query.ranks, 2) - 1;
  return spec.degree;
}

// The spec can serve the query.
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
  return choice;
}

}  // namespace

namespace {

std::string slot_of(const Query& query) { return "a slot of " + size_to_text(query.slot_bytes); }

std::string why_order_is_lost(const Query& query, const algorithms::Algorithm& algorithm) {
  if (!schedule::combines(query.collective) || query.commutative || algorithm.can_keep_order) return {};
  return "it combines operands in any order, and the operation does not commute";
}

std::string why_blocks_differ(const Query& query, const Spec& spec) {
  if (!schedule::is_vector(query.collective)) return {};
  if (!spec.algorithm->takes_vectors) return "it moves several ranks' blocks at once, and here they may lie apart";
  if (schedule::lengths_are_agreed(query.collective)) return {};
  if (spec.algorithm->uses_slots || spec.segment_bytes != 0)
    return "ranks see different lengths, so they can't agree on how to cut what is published";
  return {};
}

std::string why_it_does_not_fit(const Query& query, const Spec& spec) {
  const algorithms::Algorithm& algorithm = *spec.algorithm;
  if (!algorithm.uses_slots) return {};
  if (query.element_bytes > query.slot_bytes)
    return "an element of " + size_to_text(query.element_bytes) + " bytes does not fit into " + slot_of(query);
  if (spec.segment_bytes > query.slot_bytes)
    return "segments of " + size_to_text(spec.segment_bytes) + " bytes do not fit into " + slot_of(query);
  const uint64_t row = query.row_bytes != 0 ? query.row_bytes : query.ranks * query.bytes;
  if (algorithm.publishes_rows && row > query.slot_bytes)
    return "a row of " + size_to_text(row) + " bytes does not fit into " + slot_of(query);
  return {};
}

// Where blocks of several ranks lie side by side, a part of every one of them does not.
std::string why_it_cannot_be_cut(const Query& query, const Spec& spec) {
  if (!schedule::has_block_a_rank(query.collective) || cut(query, spec).calls <= 1) return {};
  const bool by_blocks =
      spec.algorithm->takes_vectors && spec.algorithm->collective != schedule::Collective::kReduceScatterBlock;
  return by_blocks ? "" : "a block of " + size_to_text(query.bytes) + " bytes is too long for one call";
}

}  // namespace

std::string why_not(const Query& query, const Spec& spec) {
  const algorithms::Algorithm& algorithm = *spec.algorithm;
  if (algorithm.collective != schedule::base_of(query.collective))
    return "it is an algorithm of " + std::string(schedule::name(algorithm.collective));
  if (query.ranks < algorithm.min_size) return "it needs at least " + std::to_string(algorithm.min_size) + " ranks";
  if (query.ranks > algorithm.max_size) return "it serves at most " + std::to_string(algorithm.max_size) + " ranks";
  for (std::string why : {why_order_is_lost(query, algorithm), why_blocks_differ(query, spec),
                          why_it_does_not_fit(query, spec), why_it_cannot_be_cut(query, spec)}) {
    if (!why.empty()) return why;
  }
  return {};
}

bool matches(const Query& query, const Rule& rule) {
  if (rule.collective != query.collective) return false;
  if (rule.when != When::kAlways && (rule.when == When::kCrowded) != query.crowded) return false;
  return rule.ranks.contains(query.ranks) && rule.bytes.contains(query.bytes);
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
    if (!matches(query, rule) || !serves(rule.spec, rule.line)) continue;
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
  for (const algorithms::Algorithm* algorithm : algorithms::all())
    if (algorithm->collective == schedule::base_of(query.collective) && serves(Spec{algorithm}, 0)) return match;
  return match;
}

Result<Choice> choose(const Query& query, const Table& table, const Spec* forced) {
  const Match match = find_match(query, table, forced);
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
  if (match.ground == Ground::kForced)
    choice.reason = "forced";
  else if (match.ground == Ground::kRule)
    choice.reason = table.source() + ", line " + std::to_string(match.rule->line);
  else if (match.ground == Ground::kModel)
    choice.reason = "no line of the " + table.source() + " fits; the lowest predicted time";
  else
    choice.reason = "no line of the " + table.source() + " fits; the first algorithm that can";
  return choice;
}

}  // namespace hocket::selection
