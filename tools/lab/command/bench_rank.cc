// SPDX-License-Identifier: BSD-3-Clause
// hocket lab bench-rank: what `hocket lab bench` has an MPI's launcher start. Not for people.
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "bench/lab/mpi_driver.h"
#include "bench/lab/mpi_run.h"
#include "bench/lab/rank.h"
#include "command/command.h"
#include "command/usage.h"
#include "lab/command/parts.h"
#include "mpi_launch/on_mpi.h"

namespace hocket::command {
namespace {

struct RankOptions {
  std::string board;
  bool with_hocket = false;
  std::vector<std::string> settings;  // "NAME=VALUE"
  std::string inside;
};

int live(const RankOptions& options, bench::MpiRanks& ranks) {
  Result<lab_bench::SharedBoard> board = lab_bench::SharedBoard::open(options.board);
  if (!board.is_ok()) {
    ranks.abort(fail(kFailure, board.status().message()));
    return kFailure;
  }
  const auto rank = static_cast<uint32_t>(ranks.world().rank());
  lab_bench::pin(rank, board.value()->task.cores);
  const std::unique_ptr<lab_bench::Driver> driver =
      lab_bench::make_mpi_driver(ranks, board.value()->task, options.with_hocket);
  const Status status =
      lab_bench::Rank(*board.value(), rank, *driver, [&] { return lab_bench::ask_for_traffic(*board.value()); }).live();
  if (status.is_ok()) return kSuccess;
  board.value()->fail("rank " + std::to_string(rank) + ": " + status.message());
  ranks.abort(kFailure);  // others may be in a call
  return kFailure;
}

int run_rank(const RankOptions& options) {
  OnMpi job;
  job.command = "lab bench-rank";
  job.inside = options.inside;
  job.with_hocket = options.with_hocket;
  job.own_arguments = {"lab", lab_bench::kRankCommand, "--board", options.board};
  if (options.with_hocket) job.own_arguments.emplace_back("--with-hocket");
  for (const std::string& setting : options.settings)
    job.own_arguments.insert(job.own_arguments.end(), {"--setting", setting});
  if (!is_on_mpi(job)) return fail(kUsage, "lab bench-rank is started by `hocket lab bench`");
  // What is measured is the engine: without it, it would be messages of the MPI's.
  if (options.with_hocket && options.settings.empty()) setenv("HOCKET_NIC", "on", 0);
  for (const std::string& setting : options.settings) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  return run_on_mpi(job, [&](bench::MpiRanks& ranks) { return live(options, ranks); });
}

}  // namespace

void add_lab_bench_rank(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand(lab_bench::kRankCommand, "a rank of an MPI in `hocket lab bench`");
  sub->group("");
  auto options = std::make_shared<RankOptions>();
  sub->add_option("--board", options->board, "the file that ranks share")->required();
  sub->add_flag("--with-hocket", options->with_hocket, "hocket's library carries collectives out");
  sub->add_option("--setting", options->settings, "NAME=VALUE of hocket's environment")->take_all();
  add_inside_mpi(*sub, options->inside);
  sub->callback([=, &invocation] { invocation.run = [=] { return run_rank(*options); }; });
}

}  // namespace hocket::command
