// SPDX-License-Identifier: BSD-3-Clause
#include "command/tune_measure.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "base/clock.h"
#include "bench/endpoint.h"
#include "command/configuration.h"
#include "command/local_ranks.h"
#include "command/tune_candidates.h"
#include "command/tune_channel.h"

namespace hocket::command {
namespace {

std::string title_of(const RaceCell& cell, size_t candidates) {
  std::string text = cell.bytes == 0 ? "" : size_to_text(cell.bytes) + " bytes, ";
  return text + std::to_string(candidates) + (candidates == 1 ? " algorithm" : " algorithms");
}

// What one of the forked ranks does.
class Surveyor {
 public:
  Surveyor(const TuneOptions& options, LocalWorld& world, Progress& progress, Channel& channel, double until_s)
      : options_(options), world_(world), progress_(progress), channel_(channel), until_s_(until_s) {}

  int run(const std::vector<TuneCell>& cells) {
    const bench::Options options = bench_options(cells);
    bench::Endpoint endpoint(world_);
    if (!endpoint.open(options)) return 1;
    double weights = 0;
    for (const TuneCell& cell : cells) weights += cell.weight;
    for (const TuneCell& cell : cells) {
      // Rank 0 looks at the clock, all hear of it.
      double share_s = world_.rank() == 0 ? std::max((until_s_ - progress_.spent_s()) * cell.weight / weights, 0.0) : 0;
      world_.maximum({&share_s, 1});
      if (share_s <= 0) return 0;
      weights -= cell.weight;
      try {
        measure(options, endpoint, cell.cell, share_s);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "hocket tune: %s\n", error.what());
        endpoint.abandon();
        return 1;
      }
    }
    return 0;
  }

 private:
  void measure(const bench::Options& options, bench::Endpoint& endpoint, const RaceCell& cell, double share_s) {
    const auto ranks = static_cast<uint32_t>(world_.size());
    const selection::Query query = query_of(options_, ranks, cell);
    std::vector<std::unique_ptr<bench::HocketVariant>> variants;
    std::vector<bench::Variant*> pointers;
    for (std::string& name : candidates_for(query)) {
      variants.push_back(std::make_unique<bench::HocketVariant>(endpoint, options, std::move(name)));
      pointers.push_back(variants.back().get());
    }
    if (world_.rank() == 0)
      progress_.say(std::to_string(ranks) + " ranks, " + std::string(name(cell.collective)),
                    title_of(cell, pointers.size()));
    for (const RaceResult& result : race(options, cell, world_, endpoint.buffers(), pointers, share_s)) {
      if (world_.rank() != 0) continue;
      channel_.tell({cell.collective, ranks, query.crowded, cell.bytes, pointers[result.variant]->name(),
                     result.isolated_us, result.back_to_back_us, result.calls, result.wobble});
    }
  }

  const TuneOptions& options_;
  LocalWorld& world_;
  Progress& progress_;
  Channel& channel_;
  double until_s_;
};

}  // namespace

void forget_forced_settings() {
  unsetenv("HOCKET_TABLE");
  for (int i = 0; i < schedule::kCollectives; ++i)
    unsetenv(selection::forcing_variable(static_cast<schedule::Collective>(i)).c_str());
}

Result<Survey> survey(const TuneOptions& options, Progress& progress, double reserve_s) {
  forget_forced_settings();
  Survey survey;
  double weights = 0;
  for (const uint32_t ranks : options.ranks) weights += weight_of(options, ranks);
  for (const uint32_t ranks : options.ranks) {
    const std::vector<TuneCell> cells = cells_for(options, ranks);
    // Sizes that no rule may ask for are one cell together.
    std::set<std::pair<schedule::Collective, uint64_t>> distinct;
    for (const TuneCell& cell : cells)
      distinct.emplace(cell.cell.collective, schedule::lengths_are_agreed(cell.cell.collective) ? cell.cell.bytes : 0);
    survey.cells += distinct.size();
    const double weight = weight_of(options, ranks);
    const double until_s = progress.spent_s() + std::max(progress.left_s() - reserve_s, 0.0) * weight / weights;
    weights -= weight;
    Channel channel;
    SharedBoard board(static_cast<int>(ranks));
    if (!channel.ok() || !board.ok()) return Status::system("no shared memory for the ranks", errno);
    const int code = fork_ranks(static_cast<int>(ranks), [&](int rank) {
      if (ranks <= options.cores) bind_to_core(rank);
      LocalWorld world(board, rank);
      return Surveyor(options, world, progress, channel, until_s).run(cells);
    });
    progress.clear();
    if (code != 0) return Status(Code::kSystem, "measuring " + std::to_string(ranks) + " ranks failed");
    std::vector<Measurement> found = channel.read();
    survey.cells_measured += by_cell(found).size();
    survey.measurements.insert(survey.measurements.end(), found.begin(), found.end());
  }
  return survey;
}

}  // namespace hocket::command
