// SPDX-License-Identifier: BSD-3-Clause
// hocket run: ranks of this machine, without an MPI.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "base/environment.h"
#include "command/command.h"
#include "command/number_range.h"
#include "command/usage.h"
#include "run/launcher.h"
#include "words/configuration.h"

namespace hocket::command {
namespace {

constexpr int kMostProcesses = 4096;

constexpr const char* kRunFooter = R"(
Examples:
  hocket run -n 4 ./app input.dat                 four ranks on this machine, no MPI, no root
  hocket run -n 8 -l --bind cores ./app           each line with its rank in front, each rank on its core
  hocket run -n 2 --timeout 60 python3 script.py
  hocket run -n 4 bash -c 'echo "rank ${HOCKET_RUN%%/*}"'
In the program, hocket_comm_world(context, &comm) gives the ranks their communicator.

When a rank ends with an exit code other than 0, or by a signal, that is told, and the others are ended: by SIGTERM, and
by SIGKILL after the grace time. Ctrl-C and SIGTERM end all of them. Nothing that ranks have started outlives the job.

Exit codes: 0 all ranks ended with 0; else that of the first rank that failed, 128 and the number of a signal;
124 --timeout; 127 no such PROGRAM, 126 it can't be run; 1 hocket failed, 2 the command line was not understood.)";

struct RunWords {
  RunOptions options;
  std::string bind = "none";
  std::vector<std::string> environment;
};

// "" or what is wrong with the line.
std::string set_variables(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      return "--env " + assignment +
             ": NAME=VALUE is wanted; a variable that is set here already goes to the ranks as is";
    }
    const std::string name = assignment.substr(0, equals);
    if (name == "HOCKET_RUN") return "--env " + assignment + ": HOCKET_RUN is what `hocket run` sets itself";
    setenv(name.c_str(), assignment.c_str() + equals + 1, 1);
  }
  return {};
}

int execute(const RunWords& words) {
  if (words.options.command.empty()) return fail(kUsage, "what should be run? For example: hocket run -n 4 ./app");
  if (const std::string wrong = unknown_option("run", words.options.command); !wrong.empty())
    return fail(kUsage, wrong);
  if (words.options.ranks == 0) return fail(kUsage, "how many ranks? For example: hocket run -n 4 ./app");
  if (const std::string wrong = set_variables(words.environment); !wrong.empty()) return fail(kUsage, wrong);
  // A job inside a job is its own; the settings are checked as the ranks will see them.
  unsetenv("HOCKET_RUN");
  if (const Status status = environment::check_process(); !status.is_ok()) return fail(kFailure, status.message());
  if (const Status status = check_configuration(); !status.is_ok()) return fail(kFailure, status.message());
  return launch(words.options);
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("run", "Run a program on N ranks of this machine, without an MPI");
  sub->footer(kRunFooter);
  show_command_in_usage(*sub, "PROGRAM ...");
  sub->prefix_command();
  auto words = std::make_shared<RunWords>();
  RunOptions& options = words->options;
  sub->add_option("-n,--ranks", options.ranks, "how many ranks")->check(CLI::Range(1, kMostProcesses));
  sub->add_flag("-l,--label", options.label, "put its rank in front of each line that a rank writes; lines stay whole");
  sub->add_option("--bind", words->bind, "cores: rank i on the i-th core that may be used (default: none)")
      ->check(CLI::IsMember({"cores", "none"}));
  sub->add_option("--timeout", options.timeout_s, "end all ranks after so many seconds")
      ->check(number_between(0.001, kLongestSeconds));
  sub->add_option("--grace", options.grace_s, "seconds from SIGTERM to SIGKILL (default: 5)")
      ->check(number_between(0, kLongestSeconds));
  sub->add_option("--env", words->environment, "NAME=VALUE for the ranks; may be given several times")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  sub->callback([=, &invocation] {
    words->options.bind = words->bind == "cores";
    words->options.command = sub->remaining();
    // A "--" in front is ours, a later one the program's.
    if (invocation.has_command && !words->options.command.empty()) words->options.command.emplace_back("--");
    words->options.command.insert(words->options.command.end(), invocation.command.begin(), invocation.command.end());
    invocation.run = [=] { return execute(*words); };
  });
}

}  // namespace hocket::command
