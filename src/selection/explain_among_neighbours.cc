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

}  // namespace

std::string explain_among_neighbours(const Query& query, const Neighbours& neighbours, const Table& table,
                                     const Spec* forced) {
  std::string text = call_text(query) + ", with up to " + std::to_string(neighbours.most_destinations()) +
                     " destinations and " + std::to_string(neighbours.most_sources()) + " sources\n";
  const Result<Choice> choice = choose_among_neighbours(query, neighbours, table, forced);
  text += choice.is_ok() ? std::string(choice.value().algorithm->name) + ": " + choice.value().reason + "\n"
                         : std::string(choice.status().message()) + "\n";
  for (const NeighbourPrediction& one : predict_among_neighbours(query, neighbours, table.model()))
    text += "  " + std::string(one.algorithm->name) + " is predicted to take " + us_to_text(one.us) + " us\n";
  for (const Algorithm* algorithm : algorithms::all_among_neighbors()) {
    if (algorithm->collective != schedule::base_of(query.collective)) continue;
    const std::string why = why_not_among_neighbours(query, neighbours, Spec{algorithm});
    if (!why.empty()) text += "  " + std::string(algorithm->name) + " can't: " + why + "\n";
  }
  return text;
}

}  // namespace hocket::selection
