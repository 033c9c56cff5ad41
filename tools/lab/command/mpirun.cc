// SPDX-License-Identifier: BSD-3-Clause
// hocket lab mpirun: ranks of a real MPI on the nodes of a lab.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/environment.h"
#include "command/command.h"
#include "command/number_range.h"
#include "command/usage.h"
#include "lab/command/parts.h"
#include "lab/jobs/contained.h"
#include "lab/jobs/job.h"
#include "lab/jobs/launch_line.h"
#include "lab/jobs/mpi.h"
#include "lab/jobs/node.h"
#include "lab/lab.h"
#include "lab/words.h"
#include "mpi_launch/mpi_of_command.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

constexpr const char* kLabMpirunFooter = R"(
Examples:
  hocket lab mpirun --mpi mpich ./app                     a rank on every node, or as many as `up --ppn` said
  hocket lab mpirun --mpi openmpi -n 8 --ppn 2 ./app      ranks 0 and 1 on n0, 2 and 3 on n1, ...
  hocket lab mpirun --mpi intel --map cyclic -n 8 ./app   rank 0 on n0, 1 on n1, ...
  hocket lab mpirun --with-hocket -n 8 ./app              with hocket's library preloaded; HOCKET_... is passed on
  hocket lab mpirun --mpi openmpi --print ./app           only shows the launcher's command line
The launcher runs in n0. When it ends, or is ended by any means, nothing that it has started is left.

MPI: mpich, openmpi, intel (of the environments in .venv that ./dev setup makes, or on PATH), debian-mpich,
debian-openmpi, or the path of a launcher; without --mpi the first launcher on PATH that fits the program.
Exit codes: the launcher's own.)";

struct LabMpirunOptions {
  std::string name;
  std::string mpi = "auto";
  std::string map = "block";
  lab::Placement placement;
  bool with_hocket = false;
  bool print = false;
  double grace_s = 5;
  std::vector<std::string> launcher_options;
};

int cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// What exec does, for these ranks.
Status add_hocket(const std::string& launcher, lab::Launch& launch) {
  std::vector<std::string> command = {launcher};
  command.insert(command.end(), launch.program.begin(), launch.program.end());
  const Result<Mpi> mpi = mpi_of_command("auto", command);
  if (!mpi.is_ok()) return {mpi.status().code(), mpi.status().message()};
  const Result<std::string> shim = find_shim(mpi.value().family);
  if (!shim.is_ok()) return {shim.status().code(), shim.status().message()};
  HOCKET_TRY(environment::check_process());
  HOCKET_TRY(check_configuration());
  launch.variables.emplace_back("LD_PRELOAD", with_preload(shim.value(), std::getenv("LD_PRELOAD")));
  return Status::ok();
}

void print_line(const std::vector<std::string>& line) {
  for (size_t i = 0; i < line.size(); ++i) std::printf("%s%s", i == 0 ? "" : " ", lab::quoted(line[i]).c_str());
  std::printf("\n");
}

int launch_job(const lab::Lab& lab, const lab::Launch& launch, const lab::Job& job, double grace_s) {
  const auto main = [&] {
    const Status status = lab::enter_node(lab, 0, {lab::shared_memory_of(job.folder(), 0), true});
    if (!status.is_ok()) return fail(kFailure, status.message());
    setenv("TMPDIR", job.temporary_folder().c_str(), 1);
    return lab::become(lab::launch_line(launch));
  };
  return lab::run_contained({{main, ""}}, grace_s);
}

int execute(const LabMpirunOptions& options, const std::vector<std::string>& program) {
  if (program.empty()) return fail(kUsage, "what should be run? For example: hocket lab mpirun --mpi mpich ./app");
  if (const std::string wrong = unknown_option("lab mpirun", program); !wrong.empty()) return fail(kUsage, wrong);
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const Result<lab::Lab> found = lab::find(options.name);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  const lab::Lab& lab = found.value();
  const Result<lab::Placement> placed = lab::place(options.placement, lab.nodes, lab.ranks_per_node);
  if (!placed.is_ok()) return fail(kUsage, placed.status().message());
  const Result<LabMpi> mpi = find_lab_mpi(options.mpi, program);
  if (!mpi.is_ok()) return fail(kFailure, mpi.status().message());

  lab::Launch launch;
  launch.kind = mpi.value().kind;
  launch.launcher = mpi.value().launcher;
  launch.nodes = lab.nodes;
  launch.ranks = placed.value().ranks;
  launch.ranks_per_node = placed.value().ranks_per_node;
  launch.mapping = options.map == "cyclic" ? lab::Mapping::kCyclic : lab::Mapping::kBlock;
  launch.has_more_ranks_than_cores = launch.ranks > cores();
  launch.variables = mpi.value().variables;
  launch.launcher_options = options.launcher_options;
  launch.program = program;
  if (options.with_hocket) {
    if (const Status status = add_hocket(launch.launcher, launch); !status.is_ok())
      return fail(kFailure, status.message());
  }
  const Result<lab::Job> job = lab::Job::create(lab, own_path());
  if (!job.is_ok()) return fail(kFailure, job.status().message());
  launch.agent = job.value().agent();
  if (options.print) {
    print_line(lab::launch_line(launch));
    return kSuccess;
  }
  return launch_job(lab, launch, job.value(), options.grace_s);
}

}  // namespace

void add_lab_mpirun(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("mpirun", "Run an MPI program on the nodes, over TCP");
  sub->footer(kLabMpirunFooter);
  show_command_in_usage(*sub, "PROGRAM ...");
  sub->prefix_command();
  auto options = std::make_shared<LabMpirunOptions>();
  add_lab_name(*sub, options->name);
  sub->add_option("--mpi", options->mpi, "which MPI (see below)");
  sub->add_option("-n,--ranks", options->placement.ranks, "how many ranks (default: --ppn on each node)")
      ->check(CLI::Range(1, 4096));
  sub->add_option("--ppn", options->placement.ranks_per_node, "ranks a node (default: what the lab was made with)")
      ->check(CLI::Range(1, 1024));
  sub->add_option("--map", options->map, "block: a node is filled first (default); cyclic: one on each in turn")
      ->check(CLI::IsMember({"block", "cyclic"}));
  sub->add_flag("--with-hocket", options->with_hocket, "preload hocket's library in the ranks");
  sub->add_option("--launcher-option", options->launcher_options, "a word for the launcher; may be given several times")
      ->allow_extra_args(false);
  sub->add_option("--grace", options->grace_s, "seconds from the first signal to SIGKILL (default: 5)")
      ->check(number_between(0, kLongestSeconds));
  sub->add_flag("--print", options->print, "show the launcher's command line and run nothing");
  sub->callback([=, &invocation] {
    const std::vector<std::string> program = words_behind(*sub, invocation);
    invocation.run = [=] { return execute(*options, program); };
  });
}

}  // namespace hocket::command
