// SPDX-License-Identifier: BSD-3-Clause
// A choice among neighbours in words.
#include "selection/among_neighbours.h"

namespace hocket::selection {
namespace {

using algorithms::Algorithm;
using schedule::Neighbours;

std::string call_text(const Query& query) {
  std::string text(schedule::name(query.collective));
  text += schedule::lengths_are_agreed(query.collective) ? " of " + size_to_text(query.bytes) + " bytes a block"
                                                         : " of any length";
  return text + " on " + std::to_string(query.ranks) + " ranks";
}

// How many us each is predicted to take, the chosen one first.
std::string predictions_text(const Query& query, const Neighbours& neighbours, const Table& table,
                             const Algorithm* chosen) {
  std::string first;
  std::string others;
  for (const NeighbourPrediction& one : predict_among_neighbours(query, neighbours, table.model())) {
    const std::string us = us_to_text(one.us) + " us";
    if (one.algorithm == chosen)
      first = us;
    else
      others += (others.empty() ? "" : ", ") + std::string(one.algorithm->name) + " " + us;
  }
  if (first.empty() && others.empty()) return {};
  return "  predicted " + first + (first.empty() || others.empty() ? "" : "; ") + others + "\n";
}

std::string alternatives_text(const Query& query, const Neighbours& neighbours, const Algorithm* chosen) {
  std::string possible;
  std::string impossible;
  std::string_view first;
  for (const Algorithm* algorithm : algorithms::all_among_neighbors()) {
    if (algorithm->collective != schedule::base_of(query.collective) || algorithm == chosen) continue;
    const std::string why = why_not_among_neighbours(query, neighbours, Spec{algorithm});
    if (!why.empty()) {
      impossible += "  not       " + std::string(algorithm->name) + ": " + why + "\n";
      continue;
    }
    if (possible.empty()) first = algorithm->name;
    possible += (possible.empty() ? "" : ", ") + std::string(algorithm->name);
  }
  if (!possible.empty())
    possible =
        "  possible  also " + possible + " (" + forcing_variable(query.collective) + "=" + std::string(first) + ")\n";
  return possible + impossible;
}

}  // namespace

std::string explain_among_neighbours(const Query& query, const Neighbours& neighbours, const Table& table,
                                     const Spec* forced) {
  std::string text = call_text(query) + ", with up to " + std::to_string(neighbours.most_destinations()) +
                     " destinations and " + std::to_string(neighbours.most_sources()) + " sources\n";
  const Result<Choice> choice = choose_among_neighbours(query, neighbours, table, forced);
  const Algorithm* chosen = choice.is_ok() ? choice.value().algorithm : nullptr;
  if (chosen == nullptr) {
    text += "  runs      nothing: " + std::string(choice.status().message()) + "\n";
  } else {
    text += "  runs      " + std::string(chosen->name) + ": " + std::string(chosen->summary) + "\n";
    text += "  because   " + (forced != nullptr ? "it is forced" : choice.value().reason) + "\n";
  }
  text += predictions_text(query, neighbours, table, chosen);
  text += alternatives_text(query, neighbours, chosen);
  return text;
}

}  // namespace hocket::selection
