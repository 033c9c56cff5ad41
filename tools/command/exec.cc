// SPDX-License-Identifier: BSD-3-Clause
// hocket exec: an MPI program with hocket in it.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/environment.h"
#include "command/command.h"
#include "command/configuration.h"
#include "command/mpi_library.h"
#include "command/words.h"

namespace hocket::command {
namespace {

constexpr const char* kFooter = R"(
Examples:
  hocket exec -- mpirun -n 4 ./app
  hocket exec --stats -- mpiexec -n 8 python3 script.py
  HOCKET_ALLREDUCE=ring hocket exec -- mpirun -n 4 ./app
The launcher tells which MPI it is; where it can't (srun, a script), the program's own libmpi decides, or --mpi. A
program for the standard binary interface (libmpi_abi), or a Python with such an mpi4py, is known by itself.
Nothing is changed but the environment: LD_PRELOAD names hocket's library for that MPI.)";

struct Options {
  bool stats = false;
  bool disable = false;
  bool check = false;
  bool dry_run = false;
  std::string mpi = "auto";
};

// The program among the words of the command line: the first that was linked with an MPI, or a Python with mpi4py.
struct Program {
  std::string path;
  std::string soname;
  bool is_certain = true;  // that ranks will load this one
};

Program find_mpi_program(const std::vector<std::string>& command) {
  for (const std::string& word : command) {
    const std::string path = find_program(word);
    if (path.empty()) continue;
    if (std::string soname = needed_mpi(path); !soname.empty()) return {path, soname, true};
    // A script in the first place may be a launcher.
    const Mpi4py mpi4py = mpi4py_of(path, &word == &command.front() ? Scripts::kNot : Scripts::kToo);
    if (!mpi4py.soname.empty()) return {path, mpi4py.soname, mpi4py.is_linked};
  }
  return {};
}

Result<Mpi> mpi_of_program(const Program& program, const std::string& objection) {
  if (program.soname.empty())
    return Status(
        Code::kInvalidArgument,
        objection + ", and no program on the line was linked with an MPI: say which with --mpi mpich|openmpi|abi");
  const auto family = family_of_soname(program.soname);
  if (!family)
    return Status(Code::kNotSupported, program.path + " was linked with " + program.soname +
                                           ", an MPI interface that hocket has no library for");
  return Mpi{*family, program.soname, "", ""};
}

// Which MPI the ranks will load.
Result<Mpi> mpi_of_command(const Options& options, const std::vector<std::string>& command) {
  for (const MpiFamily family : {MpiFamily::kMpich, MpiFamily::kOpenMpi, MpiFamily::kStandard})
    if (options.mpi == family_name(family)) return Mpi{family, options.mpi, "", ""};
  if (find_program(command[0]).empty())
    return Status(Code::kInvalidArgument, "there is no program `" + command[0] + "`");
  const Program program = find_mpi_program(command);
  // The program itself, started alone: it isn't asked for its version, that would run it.
  const bool alone = !program.path.empty() && program.path == find_program(command[0]);
  if (alone) return mpi_of_program(program, "");
  Result<Mpi> launcher = identify_launcher(command[0]);
  if (!launcher.is_ok()) return mpi_of_program(program, launcher.status().message());
  const auto family = family_of_soname(program.soname);
  // Any launcher's MPI may offer it.
  if (family == MpiFamily::kStandard) return mpi_of_program(program, "");
  if (!program.soname.empty() && program.is_certain && family != launcher.value().family)
    return Status(Code::kInvalidArgument, command[0] + " belongs to " + launcher.value().title + ", but " +
                                              program.path + " was linked with " + program.soname +
                                              " of another MPI: use the launcher that comes with it, or say --mpi");
  return launcher;
}

void print_environment(const std::string& preload, const Options& options) {
  std::printf("LD_PRELOAD=%s\n", preload.c_str());
  if (options.stats) std::printf("HOCKET_STATS=1\n");
  if (options.disable) std::printf("HOCKET_DISABLE=1\n");
  if (options.check) std::printf("HOCKET_CHECK=1\n");
}

int execute(const Options& options, const std::vector<std::string>& command) {
  if (command.empty()) return fail(kUsage, "what should be run? For example: hocket exec -- mpirun -n 4 ./app");
  Result<Mpi> mpi = mpi_of_command(options, command);
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
  return fail(kFailure, "can't run `" + command[0] + "`: " + std::strerror(errno));
}

}  // namespace

void add_exec(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("exec", "Run an MPI program with hocket in it");
  sub->footer(kFooter);
  show_command_in_usage(*sub, "-- LAUNCHER ... PROGRAM ...");
  sub->prefix_command();
  auto options = std::make_shared<Options>();
  sub->add_flag("--stats", options->stats, "at the end, what hocket carried out and what it handed on, and why");
  sub->add_flag("--disable", options->disable, "hand every call on to the MPI: for comparison");
  sub->add_flag("--check", options->check, "compare counts, types and roots of all ranks in every call (slow)");
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
