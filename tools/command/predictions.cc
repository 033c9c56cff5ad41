// SPDX-License-Identifier: BSD-3-Clause
#include "command/predictions.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "algorithms/facts.h"
#include "base/size_text.h"
#include "command/command.h"
#include "selection/cost_model.h"
#include "selection/matching.h"
#include "words/configuration.h"
#include "words/words.h"

namespace hocket::command {
namespace {

using selection::Query;
using selection::Spec;
using selection::Table;

// Of more, as many are priced: a second or two a cell.
constexpr uint32_t kMostPriced = 512;

struct PredictedCell {
  double us = -1;  // negative: it can't serve the call
  nlohmann::ordered_json parts;
};

struct Row {
  Spec spec;
  std::vector<PredictedCell> cells;  // by size
};

struct Predictions {
  Query query;  // without bytes
  std::vector<uint64_t> sizes;
  std::vector<Row> rows;
  std::vector<size_t> chosen;  // the row of the table's choice, and of the least time, by size
  std::vector<size_t> least;
};

PredictedCell price(const Query& query, const Table& table, const Spec& spec) {
  PredictedCell cell;
  const Result<selection::Choice> choice = selection::choose(query, table, &spec);
  if (!choice.is_ok()) return cell;
  const selection::PricedCall call(query, choice.value(), {.most_ranks = kMostPriced});
  if (!call.can_run()) return cell;
  cell.us = call.us(table.model());
  for (size_t i = 0; i < spec.algorithm->parts.size(); ++i) {
    const selection::PartChoice& part = choice.value().parts[i];
    if (part.algorithm != nullptr)
      cell.parts[std::string(spec.algorithm->parts[i].name)] =
          to_text(selection::PartSpec{part.algorithm, part.degree});
  }
  return cell;
}

Result<std::vector<Spec>> candidates(const Query& query, const std::string& variants) {
  std::vector<Spec> specs;
  std::istringstream words(variants);
  for (std::string word; std::getline(words, word, ';');) {
    const Result<Spec> spec = selection::parse_spec(query.collective, word);
    if (!spec.is_ok()) return Status(spec.status().code(), spec.status().message());
    if (spec.value().is_mpis) return Status(Code::kInvalidArgument, "mpi: of the MPI's own nothing is predicted");
    Query any = query;
    any.bytes = 1;
    if (const std::string why = selection::why_not(any, spec.value()); !why.empty())
      return Status(Code::kInvalidArgument, std::string(word).append(": ").append(why));
    specs.push_back(spec.value());
  }
  if (!specs.empty()) return specs;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective)) continue;
    // How often a multicast is missed is not known.
    if (!selection::is_worth_trying(query, *algorithm) || algorithms::facts_of(*algorithm).multicasts) continue;
    for (const uint32_t degree : selection::degrees_worth_trying(query, *algorithm))
      specs.push_back({algorithm, degree});
  }
  return specs;
}

size_t row_of(Predictions& all, const Spec& spec) {
  const auto found = std::find_if(all.rows.begin(), all.rows.end(), [&](const Row& row) { return row.spec == spec; });
  if (found != all.rows.end()) return static_cast<size_t>(found - all.rows.begin());
  all.rows.push_back({spec, std::vector<PredictedCell>(all.sizes.size())});
  return all.rows.size() - 1;
}

Status fill(Predictions& all, const Table& table, const std::vector<Spec>& specs) {
  for (const Spec& spec : specs) row_of(all, spec);
  for (size_t i = 0; i < all.sizes.size(); ++i) {
    Query query = all.query;
    query.bytes = all.sizes[i];
    const selection::Match match = selection::find_match(query, table, nullptr);
    if (match.spec.algorithm == nullptr)
      return Status(Code::kNotSupported, "no algorithm serves " + size_to_text(query.bytes) + " bytes");
    all.chosen.push_back(row_of(all, match.spec));
    size_t least = all.chosen.back();
    for (size_t row = 0; row < all.rows.size(); ++row) {
      PredictedCell& cell = all.rows[row].cells[i];
      cell = price(query, table, all.rows[row].spec);
      const double best_us = all.rows[least].cells[i].us;
      if (cell.us >= 0 && (best_us < 0 || cell.us < best_us)) least = row;
    }
    // Of rows that came before it in the registry and cost the same, the first.
    for (size_t row = 0; row < least; ++row)
      if (all.rows[row].cells[i].us == all.rows[least].cells[i].us) least = row;
    all.least.push_back(least);
  }
  return Status::ok();
}

// The time that the least one saves; "-" where nothing is predicted of the chosen one.
std::string saved(const Predictions& all, size_t size) {
  const double chosen_us = all.rows[all.chosen[size]].cells[size].us;
  if (chosen_us <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f %%", 100 * (1 - all.rows[all.least[size]].cells[size].us / chosen_us));
  return text;
}

nlohmann::ordered_json as_json(const Predictions& all, const Table& table, const std::string& model) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (size_t i = 0; i < all.sizes.size(); ++i)
    for (size_t row = 0; row < all.rows.size(); ++row) {
      const PredictedCell& cell = all.rows[row].cells[i];
      if (cell.us < 0) continue;
      nlohmann::ordered_json one = {{"bytes", all.sizes[i]},
                                    {"variant", to_text(all.rows[row].spec)},
                                    {"us", cell.us},
                                    {"chosen", all.chosen[i] == row},
                                    {"ahead", all.least[i] == row}};
      if (!cell.parts.is_null()) one["parts"] = cell.parts;
      rows.push_back(one);
    }
  return {{"collective", schedule::name(all.query.collective)},
          {"nodes", all.query.node_count()},
          {"ranks", all.query.ranks},
          {"ranks_a_node", all.query.ranks_a_node()},
          {"ranks_priced", std::min(all.query.ranks, kMostPriced)},
          {"crowded", all.query.oversubscribed},
          {"table", table.source()},
          {"model", model},
          {"predictions", rows}};
}

void print(const Predictions& all, const Table& table, const std::string& model) {
  std::printf("%s on %u node%s of %u ranks%s: microseconds that the model of %s predicts\n",
              std::string(schedule::name(all.query.collective)).c_str(), all.query.node_count(),
              all.query.node_count() == 1 ? "" : "s", all.query.ranks_a_node(),
              all.query.oversubscribed ? ", more ranks than cores" : "", model.c_str());
  if (all.query.ranks > kMostPriced) std::printf("(of %u ranks %u are priced)\n", all.query.ranks, kMostPriced);
  size_t width = std::string_view("the least saves").size();
  for (const Row& row : all.rows) width = std::max(width, to_text(row.spec).size());
  const auto name = [&](const std::string& text) { std::printf("  %-*s", static_cast<int>(width), text.c_str()); };
  name("bytes");
  for (const uint64_t size : all.sizes) std::printf(" %9s ", size_to_text(size).c_str());
  std::printf("\n");
  for (size_t row = 0; row < all.rows.size(); ++row) {
    const std::vector<PredictedCell>& cells = all.rows[row].cells;
    if (std::all_of(cells.begin(), cells.end(), [](const PredictedCell& cell) { return cell.us < 0; })) continue;
    name(to_text(all.rows[row].spec));
    for (size_t i = 0; i < all.sizes.size(); ++i) {
      const PredictedCell& cell = cells[i];
      const char mark = all.least[i] == row ? '<' : all.chosen[i] == row ? '*' : ' ';
      std::printf(" %9s%c", cell.us < 0 ? "-" : selection::us_to_text(cell.us).c_str(), mark);
    }
    std::printf("\n");
  }
  name("the least saves");
  for (size_t i = 0; i < all.sizes.size(); ++i) std::printf(" %9s ", saved(all, i).c_str());
  std::printf("\n<: the least. *: what the %s chooses.\n", table.source().c_str());
}

}  // namespace

int show_predictions(schedule::Collective collective, const schedule::Nodes& nodes, const PredictionWords& words) {
  if (!schedule::lengths_are_agreed(collective))
    return fail(kUsage, "--predict: of " + std::string(schedule::name(collective)) + " nothing is predicted by length");
  Result<std::vector<uint64_t>> sizes = read_sizes("--predict", words.sizes);
  if (!sizes.is_ok()) return fail(kUsage, sizes.status().message());
  Result<Table> rules = table_in_use();
  if (!rules.is_ok()) return fail(kUsage, rules.status().message());
  Table table = rules.take();
  std::string model = table.source();
  if (!words.model.empty()) {
    const Result<Table> other = Table::load(words.model);
    if (!other.is_ok()) return fail(kUsage, std::string("--model: ") + other.status().message());
    if (other.value().model_line() == 0) return fail(kUsage, "--model " + words.model + ": it has no `model` line");
    table = table.with_model(other.value().model());
    model = words.model;
  }
  Predictions all;
  all.sizes = sizes.take();
  all.query = {.collective = collective,
               .ranks = nodes.ranks(),
               .nodes = nodes.count() > 1 ? &nodes : nullptr,
               .oversubscribed = nodes.most() > table.model().cores};
  // As ranks there would choose. A model that is named is priced as it stands.
  all.query.has_cores = !all.query.oversubscribed && words.model.empty();
  const Result<std::vector<Spec>> specs = candidates(all.query, words.variants);
  if (!specs.is_ok()) return fail(kUsage, std::string("--variants: ") + specs.status().message());
  if (const Status status = fill(all, table, specs.value()); !status.is_ok()) return fail(kFailure, status.message());
  if (words.json)
    std::printf("%s\n", as_json(all, table, model).dump(2).c_str());
  else
    print(all, table, model);
  return kSuccess;
}

}  // namespace hocket::command
