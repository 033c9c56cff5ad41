// SPDX-License-Identifier: BSD-3-Clause
// A choice in words.
#include <cstdio>

#include "selection/choice.h"
#include "selection/matching.h"

namespace hocket::selection {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string plural(uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string title(const Query& query) {
  std::string text(schedule::name(query.collective));
  if (!schedule::lengths_are_agreed(query.collective)) {
    text += " of any length";
  } else if (query.collective != schedule::Collective::kBarrier) {
    text += " of " + plural(query.bytes, "byte");
    if (schedule::has_block_a_rank(query.collective)) text += " a block";
  }
  text += " on " + plural(query.ranks, "rank");
  text += query.crowded ? ", more ranks than cores" : ", a core for every rank";
  if (!query.commutative) text += ", operation does not commute";
  return text + "\n";
}

std::string ground_of(const Match& match, const Table& table) {
  switch (match.ground) {
    case Ground::kForced:
      return "  because   it is forced\n";
    case Ground::kRegistry:
      return "  because   no line of the " + table.source() + " fits, and it is the first algorithm that can serve\n";
    case Ground::kRule:
      break;
  }
  const Rule& rule = *match.rule;
  std::string text =
      "  because   " + table.source() + ", line " + std::to_string(rule.line) + ": " + to_text(rule) + "\n";
  if (rule.median_us > 0) {
    text += "  measured  " + number(rule.median_us) + " us";
    if (!rule.next.empty()) text += "; the runner-up " + rule.next;
    if (!rule.next.empty() && rule.next_us > 0)
      text += " " + number(rule.next_us) + " us (" + number(rule.next_us / rule.median_us) + " times as long)";
    text += "\n";
  }
  if (!rule.note.empty()) text += "  note      " + rule.note + "\n";
  return text;
}

// The rule that would win if the one above were not there.
std::string runner_up(const Query& query, const Table& table, const Match& match) {
  for (const Rule& rule : table.rules()) {
    const bool after = match.rule == nullptr || rule.line > match.rule->line;
    if (after && matches(query, rule) && !(rule.spec == match.spec) && why_not(query, rule.spec).empty())
      return "  next      line " + std::to_string(rule.line) + ": " + to_text(rule) + "\n";
  }
  return {};
}

std::string cutting(const Query& query, const Choice& choice) {
  if (query.collective == schedule::Collective::kBarrier) return {};
  std::string text = "  cut into  " + plural(choice.segments, "segment");
  if (choice.segments > 1) text += " of " + size_to_text(choice.segment_bytes) + " bytes at most";
  if (choice.calls > 1)
    text += ", in " + plural(choice.calls, "call") + " of " + plural(choice.chunk_elements, "element");
  return text + "\n";
}

std::string others(const Query& query, const Spec& chosen) {
  std::string possible;
  std::string impossible;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective) || algorithm == chosen.algorithm) continue;
    const std::string why = why_not(query, Spec{algorithm});
    if (why.empty())
      possible += (possible.empty() ? "" : ", ") + std::string(algorithm->name);
    else
      impossible += "  not       " + std::string(algorithm->name) + ": " + why + "\n";
  }
  if (!possible.empty()) possible = "  could be  " + possible + " (forced)\n";
  return possible + impossible;
}

}  // namespace

std::string explain(const Query& query, const Table& table, const Spec* forced) {
  const Match match = find_match(query, table, forced);
  const Result<Choice> choice = choose(query, table, forced);
  std::string text = title(query);
  if (choice.is_ok()) {
    const algorithms::Algorithm& algorithm = *match.spec.algorithm;
    text += "  runs      " + to_text(match.spec) + ": " + std::string(algorithm.summary) + "\n";
    text += ground_of(match, table);
    text += cutting(query, choice.value());
    if (match.ground == Ground::kRule) text += runner_up(query, table, match);
  } else {
    text += "  runs      nothing: " + std::string(choice.status().message()) + "\n";
  }
  for (const Refusal& refusal : match.refused)
    if (refusal.line != 0)
      text +=
          "  refused   line " + std::to_string(refusal.line) + ", " + to_text(refusal.spec) + ": " + refusal.why + "\n";
  return text + others(query, match.spec);
}

}  // namespace hocket::selection
