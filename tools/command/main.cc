// SPDX-License-Identifier: BSD-3-Clause
// The hocket command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "command/command.h"
#include "hocket/hocket.h"

namespace hocket::command {

namespace {

constexpr const char* kMainFooter = R"(
First steps:
  hocket info                                      what hocket finds on this machine
  hocket exec -- mpirun -n 4 ./app                 runs an MPI program with hocket in it
  hocket run -n 4 ./app                            runs a program of hocket's own C API, without an MPI
  hocket top                                       the jobs that run here: who waits for whom
  hocket bench allreduce -- mpirun -n 4            the MPI's own against hocket, in the same processes
  hocket bench barrier,allreduce --ranks 4         hocket's algorithms among themselves, no MPI needed
  hocket info --explain allreduce 8B --ranks 8     what would run, and why
  hocket lab up 4                                  a cluster inside this machine, as root

Exit codes: 0 done, 1 it went wrong, 2 the command line was not understood; exec gives the launcher's own,
run its ranks', lab exec and lab mpirun those of what they run; where tells by them whether a rank is late.)";

// "" or what is wrong with the first word, which the parser would only call missing.
std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with("-")) return {};
  std::string known;
  for (const CLI::App* subcommand : app.get_subcommands(nullptr)) {
    if (subcommand->get_name() == words[0])
      return subcommand->get_require_subcommand_min() == 0
                 ? std::string()
                 : unknown_subcommand(*subcommand, {words.begin() + 1, words.end()});
    if (subcommand->get_group().empty()) continue;  // hocket's own, not for people
    known += (known.empty() ? "" : ", ") + subcommand->get_name();
  }
  return "there is no `" + words[0] + "`; there are " + known;
}

int run(int argc, char** argv) {
  Invocation invocation;
  for (int i = 1; i < argc; ++i) {
    if (invocation.has_command)
      invocation.command.emplace_back(argv[i]);
    else if (std::string(argv[i]) == "--")
      invocation.has_command = true;
    else
      invocation.own_arguments.emplace_back(argv[i]);
  }

  CLI::App app("Collective communication for ordinary Linux machines.", "hocket");
  app.set_version_flag("--version", std::string("hocket ") + hocket_version());
  app.require_subcommand(1);
  app.footer(kMainFooter);
  add_info(app, invocation);
  add_exec(app, invocation);
  add_run(app, invocation);
  add_where(app, invocation);
  add_top(app, invocation);
  add_bench(app, invocation);
  add_probe(app, invocation);
  add_tune(app, invocation);
  add_lab(app, invocation);
  add_nic(app, invocation);
  add_algorithms(app, invocation);
  add_schedule(app, invocation);
  add_simulate(app, invocation);
  add_reproduce(app, invocation);
  add_documentation(app, invocation);

  std::vector<std::string> words = invocation.own_arguments;
  if (words.empty()) words.emplace_back("--help");
  if (const std::string problem = unknown_subcommand(app, words); !problem.empty()) return fail(kUsage, problem);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSuccess : kUsage;
  }
  return invocation.run ? invocation.run() : kUsage;
}

}  // namespace
}  // namespace hocket::command

int main(int argc, char** argv) {
  try {
    return hocket::command::run(argc, argv);
  } catch (const std::exception& error) {  // of the libraries used: out of memory, mostly
    return hocket::command::fail(hocket::command::kFailure, error.what());
  }
}
