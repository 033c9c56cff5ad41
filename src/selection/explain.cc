// SPDX-License-Identifier: BSD-3-Clause
// A choice in words.
#include <optional>

#include "selection/all_ranks.h"
#include "selection/choice.h"
#include "selection/cost_model.h"
#include "selection/detours.h"
#include "selection/matching.h"
#include "selection/measured.h"
#include "selection/parts.h"
#include "selection/text.h"

namespace hocket::selection {
namespace {

std::string call_of(const Query& query) {
  std::string text(schedule::name(query.collective));
  if (!schedule::lengths_are_agreed(query.collective)) {
    text += " of any length";
  } else if (query.collective != schedule::Collective::kBarrier) {
    text += " of " + plural(query.bytes, "byte");
    if (schedule::has_block_a_rank(query.collective)) text += " a block";
  }
  return text + " on " + plural(query.ranks, "rank");
}

std::string layout_of(const Query& query) {
  if (query.node_count() == 1) return {};
  const schedule::Nodes& nodes = *query.nodes;
  std::string text = ", on " + plural(nodes.count(), "node") + " of ";
  if (!nodes.is_even()) text += std::to_string(nodes.fewest()) + " to ";
  text += plural(nodes.most(), "rank");
  return text + (nodes.is_in_blocks() ? "" : " that are not neighbours");
}

std::string title(const Query& query) {
  std::string text = call_of(query) + layout_of(query);
  text += query.oversubscribed ? ", more ranks than cores" : ", a core for every rank";
  if (!query.commutative) text += ", operation does not commute";
  return text + "\n";
}

std::string comparison(double us, const std::string& next, double next_us, const char* what = "the runner-up ") {
  std::string text = us_to_text(us) + " us";
  if (!next.empty()) text += "; " + (what + next);
  if (!next.empty() && next_us > 0 && us > 0) {
    const std::string ratio = us_to_text(next_us / us);
    text += " " + us_to_text(next_us) + " us (" + (ratio == "1" ? "as long" : ratio + " times as long") + ")";
  }
  return text + "\n";
}

// A rule may choose what the model would not; but what differs by less than it can know isn't said to be better.
std::string comparison_with(double us, const Prediction& next) {
  constexpr double kClear = 0.98;
  return comparison(us, to_text(next.spec), next.us, next.us < kClear * us ? "less with " : "the runner-up ");
}

// What the model says of the chosen one, and of the best of the others; "" if it has nothing to say of it.
// `place`: "" or "for 4K bytes, 8 ranks: ".
std::string prediction_of(const Query& query, const Table& table, const Spec& chosen, const std::string& place = {}) {
  if (chosen.is_mpis) return {};
  const Prediction* found = nullptr;
  const Prediction* next = nullptr;
  const std::vector<Prediction> all = predict(query, table);
  for (const Prediction& one : all) {
    if (one.spec == with_degree(chosen))
      found = &one;
    else if (next == nullptr && one.spec.algorithm != chosen.algorithm)
      next = &one;
  }
  const double us = found != nullptr ? found->us : predict_one(query, table, chosen);
  if (us < 0) return {};
  const std::string few =
      query.ranks > kMaxPricedRanks ? "as if on " + plural(kMaxPricedRanks, "rank") + ": " : std::string();
  const std::string text = "  predicted " + place + few;
  if (next == nullptr) return text + comparison(us, "", 0);
  return text + comparison_with(us, *next);
}

std::string wire_of(const CostParameters& model) {
  return "  wire      alpha " + us_to_text(model.wire_alpha_us) + " us, overhead " +
         us_to_text(model.wire_overhead_us) + " us, gap " + us_to_text(model.wire_gap_us) + " us, beta " +
         us_to_text(model.wire_beta_us_per_kib) + " us a KiB, " + plural(model.wire_lanes, "lane") +
         (model.wire_crowding > 0 ? ", crowding " + us_to_text(model.wire_crowding) : "") +
         (model.one_machine != 0 ? ", all nodes on one machine" : "") + "\n";
}

// What it prices of ranks that are in each other's way; "": nothing.
std::string memory_of(const Query& query, const CostParameters& said) {
  const CostParameters model = assumed(said, query);
  std::string text;
  const auto add = [&](double value, const std::string& what) {
    if (value > 0) text += (text.empty() ? "  memory    " : ", ") + what;
  };
  add(model.hot_line_us, us_to_text(model.hot_line_us) + " us for each further rank that wants a line");
  add(model.source_us_per_kib, us_to_text(model.source_us_per_kib) + " us a KiB out of one rank's cache");
  add(model.memory_us_per_kib, us_to_text(model.memory_us_per_kib) + " us a KiB into all ranks' buffers of more than " +
                                   us_to_text(model.memory_after_kib) + " KiB");
  add(model.other_cache_us, us_to_text(model.other_cache_us) + " us to another L3");
  add(model.other_socket_us, us_to_text(model.other_socket_us) + " us to another socket");
  return text.empty() ? text : text + (model == said ? "\n" : " (assumed where the table says nothing)\n");
}

std::string model_of(const Query& query, const Table& table) {
  const CostParameters& model = table.model();
  std::string text = "  model     alpha " + us_to_text(model.alpha_us) + " us, beta " +
                     us_to_text(model.beta_us_per_kib) + " and gamma " + us_to_text(model.gamma_us_per_kib) +
                     " us a KiB, " + us_to_text(model.switch_us) + " us a context switch, " +
                     plural(model.cores, "core");
  text += table.model_line() == 0 ? " (defaults)\n"
                                  : " (" + table.source() + ", line " + std::to_string(table.model_line()) + ")\n";
  text += memory_of(query, model);
  return query.node_count() > 1 ? text + wire_of(model) : text;
}

// A rule's times, and where they were measured with another call than this one, what the table's model says of this.
std::string measurement_of(const Query& query, const Rule& rule, const Table& table) {
  const std::string times = comparison(rule.median_us, rule.next, rule.next_us);
  const std::optional<Place> place = place_of(rule.note);
  if (!place) return "  measured  " + times + (rule.note.empty() ? "" : "  note      " + rule.note + "\n");
  std::string text = "  measured  at " + to_text(*place) + ": " + times;
  const Place here = place_of(query);
  if (here == *place || table.model_line() == 0) return text;
  text += prediction_of(query, table, rule.spec, "for " + to_text(here) + ": ");
  return query.node_count() > 1 ? text + wire_of(table.model()) : text;
}

std::string ground_of(const Query& query, const Match& match, const Table& table) {
  switch (match.ground) {
    case Ground::kForced:
      return "  because   it is forced\n";
    case Ground::kModel:
      return "  because   no line of the " + table.source() + " fits, and the model predicts the lowest time for it\n" +
             prediction_of(query, table, match.spec) + model_of(query, table);
    case Ground::kRegistry:
      return "  because   no line of the " + table.source() + " fits, and it is the first algorithm that can serve\n";
    case Ground::kRule:
      break;
  }
  const Rule& rule = *match.rule;
  const std::string because =
      "  because   " + table.source() + ", line " + std::to_string(rule.line) + ": " + to_text(rule) + "\n";
  if (rule.median_us > 0) return because + measurement_of(query, rule, table);
  return because + prediction_of(query, table, rule.spec) +
         (rule.note.empty() ? "" : "  note      " + rule.note + "\n");
}

bool is_measured(const Query& query, const Match& match) {
  if (match.ground != Ground::kRule || match.rule->median_us <= 0) return false;
  const std::optional<Place> place = place_of(match.rule->note);
  return !place || *place == place_of(query);
}

// Of more ranks than are priced: what a simulation of all says of the chosen one, and of the best of the others.
std::string simulation_of(const Query& query, const Table& table, const Match& match) {
  if (query.ranks <= kMaxPricedRanks || is_measured(query, match)) return {};
  const OnAllRanks all = simulate_on_all_ranks(query, table, match.spec);
  const Prediction* found = nullptr;
  const Prediction* next = nullptr;
  for (const Prediction& one : all.simulated) {
    if (one.spec == with_degree(match.spec))
      found = &one;
    else if (next == nullptr && one.spec.algorithm != match.spec.algorithm)
      next = &one;
  }
  const std::string ranks = plural(query.ranks, "rank");
  std::string text;
  if (found != nullptr)
    text = "  simulated on all " + ranks + ", nothing was measured there: " +
           (next == nullptr ? comparison(found->us, "", 0) : comparison_with(found->us, *next));
  else if (next != nullptr)
    text = "  simulated on all " + ranks + ", nothing was measured there: " + to_text(next->spec) + " " +
           us_to_text(next->us) + " us; the chosen one has too many steps\n";
  if (all.left_out > 0)
    text += "  left out  " + std::to_string(all.left_out) + " of " +
            std::to_string(all.left_out + all.simulated.size()) + " candidates, which would take too long on " + ranks +
            "; hocket simulate --best does all\n";
  return text;
}

// The rule that would win if the one above were not there.
std::string runner_up(const Query& query, const Table& table, const Match& match) {
  for (const Rule& rule : table.rules()) {
    const bool after = match.rule == nullptr || rule.line > match.rule->line;
    if (after && matches(query, table, rule) && !(rule.spec == match.spec) && why_not(query, rule.spec).empty())
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

// The same in fewer words.
std::string ground_of_part(const Match& match, const Table& table) {
  if (match.ground == Ground::kModel) return "predicted " + us_to_text(match.predicted_us) + " us";
  if (match.ground == Ground::kForced) return "as named";
  return match.ground == Ground::kRegistry ? "the first that can" : reason_of(match, table);
}

// What a composition is made of.
std::string parts_of(const Query& query, const Table& table, const Spec& spec) {
  std::string text;
  for (uint32_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    const PartMatch part = match_part(query, table, spec, i);
    text += "  part      " + std::string(spec.algorithm->parts[i].name) + ": ";
    if (part.match.spec.algorithm == nullptr) {
      text += "nothing to do\n";
      continue;
    }
    const Query& asked = part.asked.query;
    text += call_of(asked) + (asked.nodes == nullptr ? " of a node" : ", one a node") +
            (asked.limits.unequal_blocks ? ", blocks unequal" : "") + ": " + to_text(part.match.spec);
    const Choice inner = cut(asked, part.match.spec);
    if (inner.segments > 1) text += " in " + plural(inner.segments, "segment");
    text += " (" + ground_of_part(part.match, table) + ")\n";
  }
  return text;
}

// What depends on lengths that no rank sees alone.
std::string by_length(const Query& query, const Match& match) {
  const bool passes_on = match.spec.algorithm->passes_on != nullptr;
  if (schedule::lengths_are_agreed(query.collective) || query.node_count() == 1 || !passes_on) return {};
  std::string text =
      "  long      blocks of more than " + plural(longest_passed_on(query.collective), "byte") + " go by themselves\n";
  if (query.collective == schedule::Collective::kAlltoallv && match.ground != Ground::kForced)
    text += "  few       linear, up to " + plural(most_few_messages(query.oversubscribed), "message") +
            " to other nodes a rank on average, which ranks ask each other now and then\n";
  return text;
}

std::string others(const Query& query, const Spec& chosen) {
  std::string possible;
  std::string impossible;
  std::string_view first;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective) || algorithm == chosen.algorithm) continue;
    const std::string why = why_not(query, Spec{algorithm});
    if (why.empty() && first.empty()) first = algorithm->name;
    if (why.empty())
      possible += (possible.empty() ? "" : ", ") + std::string(algorithm->name);
    else
      impossible += "  not       " + std::string(algorithm->name) + ": " + why + "\n";
  }
  if (!possible.empty())
    possible =
        "  possible  also " + possible + " (" + forcing_variable(query.collective) + "=" + std::string(first) + ")\n";
  return possible + impossible;
}

}  // namespace

std::string explain(const Query& query, const Table& table, const Spec* forced, bool simulates) {
  const Match match = find_match(query, table, forced);
  const Result<Choice> choice = choose(query, table, forced);
  std::string text = title(query);
  if (match.spec.is_mpis) {
    text += "  runs      mpi: the MPI's own algorithm; the call is passed through\n" + ground_of(query, match, table);
    if (match.ground == Ground::kRule) text += runner_up(query, table, match);
  } else if (choice.is_ok()) {
    const algorithms::Algorithm& algorithm = *match.spec.algorithm;
    text += "  runs      " + to_text(match.spec) + ": " + std::string(algorithm.summary) + "\n";
    text += parts_of(query, table, match.spec);
    text += by_length(query, match);
    text += ground_of(query, match, table);
    if (simulates) text += simulation_of(query, table, match);
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
