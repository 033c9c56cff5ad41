// SPDX-License-Identifier: BSD-3-Clause
// hocket exec: an MPI program with hocket in it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/environment.h"
#include "command/command.h"
#include "command/usage.h"
#include "mpi_launch/mpi_library.h"
#include "mpi_launch/mpi_of_command.h"
#include "supervision/exit_codes.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

constexpr const char* kExecFooter = R"(
Examples:
  hocket exec -- mpirun -n 4 ./app
  hocket exec --stats -- mpiexec -n 8 python3 script.py
  HOCKET_ALLREDUCE=ring hocket exec -- mpirun -n 4 ./app
The launcher tells which MPI it is; where it can't (srun, a script), the program's own libmpi decides, or --mpi. A
program for the standard binary interface (libmpi_abi), or a Python with such an mpi4py, is known by itself.
Nothing is changed but the environment: LD_PRELOAD names hocket's library for that MPI.
Exit codes: the launcher's own; 127 no such launcher, 126 it can't be run; 1 hocket failed, 2 the command line was not
understood.)";

struct ExecOptions {
  bool stats = false;
  bool disable = false;
  bool check = false;
  bool dry_run = false;
  std::string mpi = "auto";
};

void print_environment(const std::string& preload, const ExecOptions& options) {
  std::printf("LD_PRELOAD=%s\n", preload.c_str());
  if (options.stats) std::printf("HOCKET_STATS=1\n");
  if (options.disable) std::printf("HOCKET_DISABLE=1\n");
  if (options.check) std::printf("HOCKET_CHECK=1\n");
}

int execute(const ExecOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) return fail(kUsage, "what should be run? For example: hocket exec -- mpirun -n 4 ./app");
  Result<Mpi> mpi = mpi_of_command(options.mpi, command);
  if (!mpi.is_ok()) return fail(kFailure, mpi.status().message());
  Result<std::string> shim = find_shim(mpi.value().family);
  if (!shim.is_ok()) return fail(kFailure, shim.status().message());
  // What would fail every call of the program.
  if (const Status status = environment::check_process(); !status.is_ok()) return fail(kFailure, status.message());
  if (const Status status = check_configuration(); !status.is_ok()) return fail(kFailure, status.message());

  const std::string preload = with_preload(shim.value(), std::getenv("LD_PRELOAD"));
  if (options.dry_run) {
    print_environment(preload, options);
    return kSuccess;
  }
  setenv("LD_PRELOAD", preload.c_str(), 1);
  if (options.stats) setenv("HOCKET_STATS", "1", 1);
  if (options.disable) setenv("HOCKET_DISABLE", "1", 1);
  if (options.check) setenv("HOCKET_CHECK", "1", 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  return fail(error == ENOENT ? supervision::kNotFound : supervision::kCannotRun,
              "can't run `" + command[0] + "`: " + std::strerror(error));
}

}  // namespace

void add_exec(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("exec", "Run an MPI program with hocket in it");
  sub->footer(kExecFooter);
  show_command_in_usage(*sub, "-- LAUNCHER ... PROGRAM ...");
  sub->prefix_command();
  auto options = std::make_shared<ExecOptions>();
  sub->add_flag("--stats", options->stats, "at the end, what hocket carried out and what it passed through, and why");
  sub->add_flag("--disable", options->disable, "pass every call through to the MPI: for comparison");
  sub->add_flag("--check", options->check, "compare what all ranks pass before every call, between nodes too (slow)");
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
