// SPDX-License-Identifier: BSD-3-Clause
#include "tune/measure.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "bench/endpoint.h"
#include "bench/local/ranks.h"
#include "supervision/cores.h"
#include "tune/channel.h"
#include "tune/survey.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

// What one of the forked ranks does.
int survey_rank(const TuneOptions& options, LocalWorld& world, Progress& progress, Channel& channel, double until_s,
                const std::vector<TuneCell>& cells) {
  const bench::Options bench = bench_options(cells);
  bench::Endpoint endpoint(world);
  if (!endpoint.open(bench)) return 1;
  Surveying surveying{world, endpoint, progress, until_s};
  surveying.oversubscribed = static_cast<uint32_t>(world.size()) > options.cores;
  surveying.report = [&](const Measurement& one) { channel.report(one); };
  if (survey_cells(surveying, bench, cells)) return 0;
  endpoint.abandon();
  return 1;
}

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
    survey.cells += cells_of_rules(cells);
    const double weight = weight_of(options, ranks);
    const double until_s = progress.spent_s() + std::max(progress.left_s() - reserve_s, 0.0) * weight / weights;
    weights -= weight;
    Channel channel;
    SharedBoard board(static_cast<int>(ranks));
    if (!channel.ok() || !board.ok()) return Status::system("no shared memory for the ranks", errno);
    const int code = fork_ranks(static_cast<int>(ranks), [&](int rank) {
      if (ranks <= options.cores) supervision::bind_to_core(rank);
      LocalWorld world(board, rank);
      return survey_rank(options, world, progress, channel, until_s, cells);
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
