// SPDX-License-Identifier: BSD-3-Clause
// A choice in words.
#include <cstdio>

#include "selection/choice.h"
#include "selection/cost_model.h"
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

std::string comparison(double us, const std::string& next, double next_us) {
  std::string text = number(us) + " us";
  if (!next.empty()) text += "; the runner-up " + next;
  if (!next.empty() && next_us > 0 && us > 0)
    text += " " + number(next_us) + " us (" + number(next_us / us) + " times as long)";
  return text + "\n";
}

// What the model says of the chosen one, and of the best of the others; "" if it has nothing to say of it.
std::string prediction_of(const Query& query, const Table& table, const Spec& chosen) {
  const Prediction* found = nullptr;
  const Prediction* next = nullptr;
  const std::vector<Prediction> all = predict(query, table);
  for (const Prediction& one : all) {
    if (one.spec == chosen)
      found = &one;
    else if (next == nullptr && one.spec.algorithm != chosen.algorithm)
      next = &one;
  }
  if (found == nullptr) return {};
  return "  predicted " +
         comparison(found->us, next == nullptr ? "" : to_text(next->spec), next == nullptr ? 0 : next->us);
}

std::string model_of(const Table& table) {
  const CostParameters& model = table.model();
  std::string text = "  model     alpha " + number(model.alpha_us) + " us, beta " + number(model.beta_us_per_kib) +
                     " and gamma " + number(model.gamma_us_per_kib) + " us a KiB, " + number(model.switch_us) +
                     " us to hand a core on, " + plural(model.cores, "core");
  if (table.model_line() == 0) return text + " (defaults)\n";
  return text + " (" + table.source() + ", line " + std::to_string(table.model_line()) + ")\n";
}

std::string ground_of(const Query& query, const Match& match, const Table& table) {
  switch (match.ground) {
    case Ground::kForced:
      return "  because   it is forced\n";
    case Ground::kModel:
      return "  because   no line of the " + table.source() + " fits, and the model predicts the lowest time for it\n" +
             prediction_of(query, table, match.spec) + model_of(table);
    case Ground::kRegistry:
      return "  because   no line of the " + table.source() + " fits, and it is the first algorithm that can serve\n";
    case Ground::kRule:
      break;
  }
  const Rule& rule = *match.rule;
  std::string text =
      "  because   " + table.source() + ", line " + std::to_string(rule.line) + ": " + to_text(rule) + "\n";
  if (rule.median_us > 0)
    text += "  measured  " + comparison(rule.median_us, rule.next, rule.next_us);
  else
    text += prediction_of(query, table, rule.spec);
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
    text += ground_of(query, match, table);
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
