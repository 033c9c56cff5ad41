// SPDX-License-Identifier: BSD-3-Clause
// hocket exec: an MPI program with hocket in it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "command/command.h"
#include "command/usage.h"
#include "mpi_launch/mpi_library.h"
#include "mpi_launch/mpi_of_command.h"
#include "supervision/cannot_run.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

constexpr const char* kExecFooter = R"(
Examples:
  hocket exec -- mpirun -n 4 ./app
  hocket exec --stats -- mpiexec -n 8 python3 script.py        says at the end where the time went
  hocket exec --stats=job.json -- mpirun -n 4 ./app            the same in a file, for programs
  HOCKET_ALLREDUCE=ring hocket exec -- mpirun -n 4 ./app
  hocket exec --oversubscribe -- mpirun -n 16 ./app      on a machine of four cores
The launcher tells which MPI it is; where it can't (srun, a script), the program's own libmpi decides, or --mpi. A
program for the standard binary interface (libmpi_abi), or a Python with such an mpi4py, is known by itself.
Nothing is changed but the environment: LD_PRELOAD names hocket's library for that MPI.
Exit codes: the launcher's own; 127 no such launcher, 126 it can't be run; 1 hocket failed, 2 the command line was not
understood.)";

// What the parser gives for --stats without a file.
constexpr const char* kOnStderr = "true";

struct ExecOptions {
  std::string stats;  // "": not asked for; kOnStderr; a file
  bool disable = false;
  bool check = false;
  bool oversubscribe = false;
  bool dry_run = false;
  std::string mpi = "auto";
};

struct Variable {
  const char* name;
  std::string value;
};

// So that launchers start more ranks than there are cores, and bind none to a core: mpirun of Open MPI 4, that of 5,
// and Intel MPI's, which would pin ranks.
const Variable kOversubscribing[] = {
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
    {"PRTE_MCA_hwloc_default_binding_policy", "none"},
    {"I_MPI_PIN", "0"},
};

// The user has said already where what --stats asks for is to be.
bool has_file_of_statistics() {
  const char* const value = std::getenv("HOCKET_STATS");
  return value != nullptr && environment::names_file(value);
}

// "", or what is wrong with it.
std::string problem_of_statistics(const std::string& file) {
  if (file.empty() || file == kOnStderr) return {};
  if (!environment::names_file(file)) return "--stats=" + file + ": name a file that ends in .json, or none for stderr";
  return environment::check(*environment::find("HOCKET_STATS"), file).message();
}

// What is changed for the launcher and its ranks.
std::vector<Variable> environment_of(const std::string& shim, const ExecOptions& options) {
  std::vector<Variable> changed = {{"LD_PRELOAD", with_preload(shim, std::getenv("LD_PRELOAD"))}};
  if (options.stats == kOnStderr && !has_file_of_statistics()) changed.push_back({"HOCKET_STATS", "1"});
  if (!options.stats.empty() && options.stats != kOnStderr) changed.push_back({"HOCKET_STATS", options.stats});
  if (options.disable) changed.push_back({"HOCKET_DISABLE", "1"});
  if (options.check) changed.push_back({"HOCKET_CHECK", "1"});
  if (!options.oversubscribe) return changed;
  for (const Variable& one : kOversubscribing)
    if (std::getenv(one.name) == nullptr) changed.push_back(one);
  return changed;
}

int execute(const ExecOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) return fail(kUsage, "what should be run? For example: hocket exec -- mpirun -n 4 ./app");
  if (const std::string wrong = unknown_option("exec", command); !wrong.empty()) return fail(kUsage, wrong);
  if (const std::string wrong = problem_of_statistics(options.stats); !wrong.empty()) return fail(kUsage, wrong);
  // Before the MPI is looked for, which a program that isn't there has none.
  if (const int error = error_of_running(command[0]); error != 0) {
    const supervision::CannotRun refusal = supervision::cannot_run(command[0], error);
    return fail(refusal.exit_code, refusal.why);
  }
  Result<Mpi> mpi = mpi_of_command(options.mpi, command);
  if (!mpi.is_ok()) return fail(kFailure, mpi.status().message());
  Result<std::string> shim = find_shim(mpi.value().family);
  if (!shim.is_ok()) return fail(kFailure, shim.status().message());
  // What would fail every call of the program.
  if (const Status status = environment::check_process(); !status.is_ok()) return fail(kFailure, status.message());
  if (const Status status = check_configuration(); !status.is_ok()) return fail(kFailure, status.message());

  for (const Variable& one : environment_of(shim.value(), options)) {
    if (options.dry_run)
      std::printf("%s=%s\n", one.name, one.value.c_str());
    else
      setenv(one.name, one.value.c_str(), 1);
  }
  if (options.dry_run) return kSuccess;
  const supervision::CannotRun refusal = supervision::cannot_run(command[0], supervision::become(command));
  return fail(refusal.exit_code, refusal.why);
}

}  // namespace

void add_exec(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("exec", "Run an MPI program with hocket in it");
  sub->footer(kExecFooter);
  show_command_in_usage(*sub, "-- LAUNCHER ... PROGRAM ...");
  sub->prefix_command();
  auto options = std::make_shared<ExecOptions>();
  sub->add_flag(
      "--stats", options->stats,
      "at the end, what hocket carried out and passed through, and why; and where the time went: on stderr, with "
      "--stats=FILE.json in a file, as it is where HOCKET_STATS names one");
  sub->add_flag("--disable", options->disable, "pass every call through to the MPI: for comparison");
  sub->add_flag("--check", options->check,
                "compare what all ranks pass before every blocking call, between nodes too (slow)");
  sub->add_flag("--oversubscribe", options->oversubscribe,
                "let the launcher start more ranks than there are cores, and bind none: by variables of its own");
  sub->add_flag("--dry-run", options->dry_run, "print the environment that would be set, and run nothing");
  sub->add_option("--mpi", options->mpi, "the MPI the program was built with (default: auto)")
      ->check(CLI::IsMember({"auto", "mpich", "openmpi", "abi"}));
  sub->callback([=, &invocation] {
    std::vector<std::string> command = sub->remaining();
    command.insert(command.end(), invocation.command.begin(), invocation.command.end());
    invocation.run = [=] { return execute(*options, command); };
  });
}

}  // namespace hocket::command
