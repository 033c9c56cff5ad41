// SPDX-License-Identifier: BSD-3-Clause
#include "tune/survey.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>

#include "tune/candidates.h"

namespace hocket::command {
namespace {

std::string title_of(const RaceCell& cell, size_t candidates) {
  std::string text = cell.bytes == 0 ? "" : size_to_text(cell.bytes) + " bytes, ";
  return text + std::to_string(candidates) + (candidates == 1 ? " algorithm" : " algorithms");
}

std::string place_of(const Surveying& surveying) {
  if (surveying.nodes == nullptr) return std::to_string(surveying.world.size()) + " ranks";
  return std::to_string(surveying.nodes->count()) + "x" + std::to_string(surveying.nodes->most()) + " ranks";
}

// Rank 0 finds them: that takes the plans of all ranks.
std::vector<std::string> agreed_candidates(const Surveying& surveying, const selection::Query& query) {
  bench::World& world = surveying.world;
  std::string text;
  if (world.rank() == 0)
    for (const std::string& name :
         candidates_for(query, surveying.table == nullptr ? selection::Table() : *surveying.table))
      text += name + "\n";
  auto bytes = static_cast<double>(text.size());
  world.maximum({&bytes, 1});
  text.resize(static_cast<size_t>(bytes));
  std::string all(text.size() * static_cast<size_t>(world.size()), '\0');
  world.allgather(text.data(), all.data(), text.size());
  std::istringstream first(all.substr(0, text.size()));
  std::vector<std::string> names;
  for (std::string name; std::getline(first, name);) names.push_back(name);
  return names;
}

void measure(const Surveying& surveying, const bench::Options& options, const RaceCell& cell, double share_s) {
  bench::World& world = surveying.world;
  const auto ranks = static_cast<uint32_t>(world.size());
  const selection::Query query = query_of(ranks, surveying.oversubscribed, surveying.nodes.get(), cell);
  std::vector<std::unique_ptr<bench::HocketVariant>> variants;
  std::vector<bench::Variant*> pointers;
  for (std::string& name : agreed_candidates(surveying, query)) {
    variants.push_back(std::make_unique<bench::HocketVariant>(surveying.endpoint, options, std::move(name)));
    pointers.push_back(variants.back().get());
  }
  if (surveying.mpi != nullptr) pointers.push_back(surveying.mpi);
  if (world.rank() == 0)
    surveying.progress.say(place_of(surveying) + ", " + std::string(name(cell.collective)),
                           title_of(cell, pointers.size()));
  for (const RaceResult& result : race(options, cell, world, surveying.endpoint.buffers(), pointers, share_s)) {
    if (world.rank() != 0) continue;
    surveying.report({cell.collective, ranks, query.oversubscribed, cell.bytes, pointers[result.variant]->name(),
                      result.isolated_us, result.back_to_back_us, result.calls, result.wobble, surveying.nodes});
  }
}

}  // namespace

bool survey_cells(const Surveying& surveying, const bench::Options& options, const std::vector<TuneCell>& cells) {
  bench::World& world = surveying.world;
  double weights = 0;
  for (const TuneCell& cell : cells) weights += cell.weight;
  for (const TuneCell& cell : cells) {
    // Rank 0 looks at the clock, all hear of it.
    const double left_s = surveying.until_s - surveying.progress.spent_s();
    double share_s = world.rank() == 0 ? std::max(left_s * cell.weight / weights, 0.0) : 0;
    world.maximum({&share_s, 1});
    if (share_s <= 0) return true;
    weights -= cell.weight;
    try {
      measure(surveying, options, cell.cell, share_s);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "hocket tune: %s\n", error.what());
      return false;
    }
  }
  return true;
}

}  // namespace hocket::command
