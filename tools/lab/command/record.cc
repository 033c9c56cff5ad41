// SPDX-License-Identifier: BSD-3-Clause
// hocket lab record: what NIC engines send while a command runs.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "command/command.h"
#include "command/usage.h"
#include "lab/command/parts.h"
#include "lab/jobs/node.h"
#include "lab/lab.h"
#include "lab/packets/recorder.h"
#include "lab/words.h"
#include "supervision/exit_codes.h"

namespace hocket::command {
namespace {

constexpr const char* kLabRecordFooter = R"(
Examples:
  hocket lab record run.jsonl -- hocket lab mpirun --with-hocket -n 4 ./app
  hocket lab record run.jsonl --name lossy -- ./test-of-mine
The file has a line of JSON for each packet of a NIC engine and each doorbell; docs/lab.md describes them. The command
runs where it is called, not in a node. `hocket lab bench --record FILE` records a measurement.

Exit codes: the command's own; 1 if the recording lacks anything.)";

// The exit code of the command; what a terminal's keys send is the command's affair.
int run_recorded(const std::vector<std::string>& command) {
  const pid_t process = fork();
  if (process < 0) return fail(kFailure, Status::system("can't start a process for a recording", errno).message());
  if (process == 0) _exit(lab::become(command));
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return fail(kFailure, std::string("can't wait for the command: ") + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : supervision::kSignalled + WTERMSIG(status);
}

int record_command(const std::string& name, const std::string& file, const std::vector<std::string>& command) {
  if (command.empty())
    return fail(kUsage, "what should be recorded? For example: hocket lab record run.jsonl -- hocket lab mpirun ./app");
  if (const std::string wrong = unknown_option("lab record", command); !wrong.empty()) return fail(kUsage, wrong);
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const Result<lab::Lab> found = lab::find(name);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + lab::quoted(word);
  Result<lab::Recorder> recorder = lab::Recorder::start(found.value(), file, {{"command", line}});
  if (!recorder.is_ok()) return fail(kFailure, recorder.status().message());
  const int code = run_recorded(command);
  const Status recorded = recorder.value().stop();
  if (recorded.is_ok()) return code;
  const int failed = fail(kFailure, recorded.message());
  return code == kSuccess ? failed : code;
}

}  // namespace

void add_lab_record(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("record", "Write down what NIC engines send while a command runs");
  sub->footer(kLabRecordFooter);
  show_command_in_usage(*sub, "-- COMMAND ...");
  sub->prefix_command();
  auto name = std::make_shared<std::string>();
  auto file = std::make_shared<std::string>();
  add_lab_name(*sub, *name);
  sub->add_option("file", *file, "of lines of JSON; what was in it is replaced")->required()->type_name("FILE");
  sub->callback([=, &invocation] {
    const std::vector<std::string> command = words_behind(*sub, invocation);
    invocation.run = [=] { return record_command(*name, *file, command); };
  });
}

}  // namespace hocket::command
