// SPDX-License-Identifier: BSD-3-Clause
// hocket algorithms: what there is to choose from.
#include "algorithms/algorithm.h"
#include "algorithms/facts.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "command/command.h"
#include "command/layout.h"
#include "command/predictions.h"
#include "schedule/collective_names.h"
#include "selection/choice.h"
#include "words/collective_names.h"

namespace hocket::command {
namespace {

using algorithms::Algorithm;

constexpr const char* kAlgorithmsFooter = R"(
Examples:
  hocket algorithms                     all of them
  hocket algorithms reduce              those of one collective
  hocket algorithms neighbor_alltoall   those of one among neighbours
  hocket algorithms alltoall --nodes 3,1,4   and which of them run on such nodes
  hocket algorithms alltoall --nodes 64x8 --predict 64..32K     and what the cost model predicts there
  hocket algorithms alltoall --nodes 64x8 --predict 64..32K --model FILE     by the model line of that table
  HOCKET_REDUCE=tree:degree=3,segment=16K hocket exec -- mpirun -n 8 ./app     forces one for a run
  hocket schedule reduce tree --ranks 8 --degree 3                             shows what it does)";

// A number, or the word for as many as there can be.
nlohmann::json degrees_json(const Algorithm& algorithm, std::span<const uint32_t> degrees) {
  nlohmann::json list = nlohmann::json::array();
  for (const uint32_t degree : degrees)
    list.push_back(degree == algorithms::kFlat ? nlohmann::json(algorithm.degree_most) : nlohmann::json(degree));
  return list;
}

std::string list_of(const Algorithm& algorithm, std::span<const uint32_t> degrees) {
  std::string text;
  for (const nlohmann::json& degree : degrees_json(algorithm, degrees))
    text += (text.empty() ? "" : ", ") + (degree.is_string() ? degree.get<std::string>() : degree.dump());
  return text;
}

// "2, 3, ...; over nodes also 4, 16"
std::string degrees_of(const Algorithm& algorithm) {
  const std::string more = list_of(algorithm, algorithm.degrees_over_nodes);
  return list_of(algorithm, algorithm.degrees) + ", ..." + (more.empty() ? "" : "; over nodes also " + more);
}

// "node=REDUCE, across=ALLREDUCE": what each part is an algorithm of.
std::string parts_of(const Algorithm& algorithm) {
  std::string text;
  for (const algorithms::Part& part : algorithm.parts)
    text += (text.empty() ? "" : ", ") + std::string(part.name) + "=" + std::string(schedule::name(part.collective));
  return text;
}

std::string properties_of(const Algorithm& algorithm) {
  std::string text;
  const auto add = [&](const std::string& property) { text += (text.empty() ? "" : "; ") + property; };
  if (!algorithm.degrees.empty()) add(std::string(algorithm.degree_name) + " (" + degrees_of(algorithm) + ")");
  if (algorithm.takes_tree) add("a list of parents (0.0.1.1)");
  if (algorithms::is_composition(algorithm)) add("parts " + parts_of(algorithm));
  if (algorithm.segmented) add("segment");
  if (algorithm.has_pieces) add("piece");
  if (schedule::combines(algorithm.collective))
    add(algorithm.can_keep_order ? "any operation" : "commutative operations only");
  if (algorithm.min_size > 1) add("from " + std::to_string(algorithm.min_size) + " ranks");
  return text;
}

// What is asked of each algorithm besides what it is.
struct Question {
  std::optional<schedule::Collective> collective;
  std::optional<schedule::Nodes> nodes;

  // Else every algorithm of the collective serves.
  bool has_two_answers() const { return nodes || (collective && schedule::is_vector(*collective)); }
};

// "" or why it doesn't serve.
std::string why_not(const Algorithm& algorithm, const Question& question) {
  const selection::Query query{.collective = question.collective.value_or(algorithm.collective),
                               .bytes = 1,
                               .ranks = question.nodes ? question.nodes->ranks() : algorithm.min_size,
                               .nodes = question.nodes ? &*question.nodes : nullptr};
  return selection::why_not(query, selection::Spec{&algorithm});
}

nlohmann::json as_json(const Algorithm& algorithm, const Question& question) {
  nlohmann::json parts = nlohmann::json::array();
  for (const algorithms::Part& part : algorithm.parts) {
    const bool across = part.family == algorithms::Family::kAcross;
    parts.push_back(
        {{"name", part.name}, {"collective", schedule::name(part.collective)}, {"family", across ? "across" : "node"}});
  }
  nlohmann::json json = {{"collective", schedule::name(algorithm.collective)},
                         {"name", algorithm.name},
                         {"summary", algorithm.summary},
                         {"reference", algorithm.reference},
                         {"degrees", degrees_json(algorithm, algorithm.degrees)},
                         {"degrees_over_nodes", degrees_json(algorithm, algorithm.degrees_over_nodes)},
                         {"degree_name", algorithm.degree_name},
                         {"takes_tree", algorithm.takes_tree},
                         {"parts", parts},
                         {"among_neighbours", schedule::is_among_neighbors(algorithm.collective)},
                         {"over_nodes", algorithms::runs_over_nodes(algorithm)},
                         {"multicasts", algorithms::facts_of(algorithm).multicasts},
                         {"segmented", algorithm.segmented},
                         {"can_keep_order", algorithm.can_keep_order},
                         {"min_ranks", algorithm.min_size},
                         {"max_ranks", algorithm.max_size}};
  if (question.has_two_answers()) json["why_not"] = why_not(algorithm, question);
  return json;
}

void print(const Algorithm& algorithm, const Question& question) {
  std::printf("  %-24.*s %.*s\n", static_cast<int>(algorithm.name.size()), algorithm.name.data(),
              static_cast<int>(algorithm.summary.size()), algorithm.summary.data());
  const std::string properties = properties_of(algorithm);
  if (!properties.empty()) std::printf("  %-24s %s\n", "", properties.c_str());
  std::printf("  %-24s [%.*s]\n", "", static_cast<int>(algorithm.reference.size()), algorithm.reference.data());
  if (!question.has_two_answers()) return;
  const std::string why = why_not(algorithm, question);
  if (!why.empty()) std::printf("  %-24s not %s: %s\n", "", question.nodes ? "there" : "here", why.c_str());
}

// "alltoallv, by algorithms of alltoall"
std::string heading_of(schedule::Collective collective, const Question& question) {
  std::string heading(schedule::name(question.collective.value_or(collective)));
  if (question.collective && collective != *question.collective)
    heading += ", by algorithms of " + std::string(schedule::name(collective));
  return heading;
}

// Those of a collective among neighbours, or of all such. Which of them serve is a matter of these.
nlohmann::json json_among_neighbors(std::optional<schedule::Collective> collective) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Algorithm* algorithm : algorithms::all_among_neighbors()) {
    if (collective && algorithm->collective != schedule::base_of(*collective)) continue;
    rows.push_back(as_json(*algorithm, {}));
    rows.back()["over_nodes"] = true;  // by messages, what publishes too
  }
  return rows;
}

void print_among_neighbors(std::optional<schedule::Collective> collective) {
  const schedule::Collective* last = nullptr;
  for (const Algorithm* algorithm : algorithms::all_among_neighbors()) {
    if (collective && algorithm->collective != schedule::base_of(*collective)) continue;
    if (last == nullptr || *last != algorithm->collective)
      std::printf("%s%s\n", collective ? "" : "\n",
                  heading_of(algorithm->collective, Question{collective, std::nullopt}).c_str());
    last = &algorithm->collective;
    print(*algorithm, {});
  }
}

int list_among_neighbors(schedule::Collective collective, bool has_nodes, const PredictionWords& predictions) {
  if (has_nodes || !(predictions.sizes + predictions.model + predictions.variants).empty())
    return fail(kUsage, "which algorithms of " + std::string(schedule::name(collective)) +
                            " serve, and how fast, depends on the neighbours: `hocket info --explain " +
                            std::string(schedule::name(collective)) +
                            " 64 --grid 4x2` says it, and in a program hocket_neighbourhood_explain()");
  if (predictions.json)
    std::printf("%s\n", json_among_neighbors(collective).dump(2).c_str());
  else
    print_among_neighbors(collective);
  return kSuccess;
}

int list(const std::string& collective_name, const LayoutOptions& options, const PredictionWords& predictions) {
  const bool json = predictions.json;
  uint32_t ranks = 0;
  Result<std::optional<schedule::Nodes>> layout = layout_of(options, ranks);
  if (!layout.is_ok()) return fail(kUsage, layout.status().message());
  Question question{.collective = std::nullopt, .nodes = layout.take()};
  const std::optional<schedule::Collective> any = schedule::find_collective_of_form(collective_name);
  if (any && schedule::is_among_neighbors(*any))
    return list_among_neighbors(*any, question.nodes.has_value(), predictions);
  if (!collective_name.empty()) {
    const Result<schedule::Collective> named = read_collective_of_form(collective_name);
    if (!named.is_ok()) return fail(kUsage, named.status().message());
    question.collective = named.value();
  }
  if (predictions.sizes.empty() && !(predictions.model + predictions.variants).empty())
    return fail(kUsage, "--model and --variants are for --predict: for which lengths? For example --predict 64..32K");
  if (!predictions.sizes.empty()) {
    if (!question.collective || !question.nodes)
      return fail(kUsage, "--predict needs a collective, and --nodes, as 64x8 (1x8: one node)");
    return show_predictions(*question.collective, *question.nodes, predictions);
  }
  nlohmann::json rows = nlohmann::json::array();
  const schedule::Collective* last = nullptr;
  for (const Algorithm* algorithm : algorithms::all()) {
    if (question.collective && algorithm->collective != schedule::base_of(*question.collective)) continue;
    if (json) {
      rows.push_back(as_json(*algorithm, question));
      continue;
    }
    if (last == nullptr || *last != algorithm->collective)
      std::printf("%s%s\n", last == nullptr ? "" : "\n", heading_of(algorithm->collective, question).c_str());
    last = &algorithm->collective;
    print(*algorithm, question);
  }
  if (!question.collective && !question.nodes && !json) print_among_neighbors(std::nullopt);
  if (!question.collective && !question.nodes && json)
    for (const nlohmann::json& row : json_among_neighbors(std::nullopt)) rows.push_back(row);
  if (json) std::printf("%s\n", rows.dump(2).c_str());
  return kSuccess;
}

}  // namespace

void add_algorithms(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("algorithms", "List the algorithms, their parameters and where they come from");
  sub->footer(kAlgorithmsFooter);
  auto collective = std::make_shared<std::string>();
  auto predictions = std::make_shared<PredictionWords>();
  sub->add_option("collective", *collective, "only this one's")->type_name("COLLECTIVE");
  auto layout = std::make_shared<LayoutOptions>();
  add_layout(*sub, *layout);
  sub->add_option("--predict", predictions->sizes,
                  "what each takes by the cost model, on such nodes, for messages (or blocks) of 8,64,1K..32K bytes")
      ->type_name("SIZES");
  sub->add_option("--model", predictions->model,
                  "a table whose model line it predicts by (default: that of HOCKET_TABLE or the built-in one)")
      ->type_name("FILE");
  sub->add_option("--variants", predictions->variants,
                  "of which to predict it, with parts if you like: 'linear;leader;send_aggregation:across=bruck'")
      ->type_name("LIST");
  sub->add_flag("--json", predictions->json, "objects instead of text");
  sub->callback([=, &invocation] { invocation.run = [=] { return list(*collective, *layout, *predictions); }; });
}

}  // namespace hocket::command
