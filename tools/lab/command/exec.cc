// SPDX-License-Identifier: BSD-3-Clause
// hocket lab exec: a command in a node, or in all of them.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>

#include "command/command.h"
#include "command/usage.h"
#include "lab/command/parts.h"
#include "lab/jobs/contained.h"
#include "lab/jobs/job.h"
#include "lab/jobs/node.h"
#include "lab/lab.h"
#include "lab/words.h"

namespace hocket::command {
namespace {

constexpr double kGrace_s = 5;

constexpr const char* kLabExecFooter = R"(
Examples:
  hocket lab exec n0 -- bash                       a shell in node n0
  hocket lab exec all -- cat /proc/net/dev         in every node at once, each line with its node in front
  hocket lab exec each -- hocket nic up eth0       in one node after the other, as long as it succeeds
The command sees the node's network, host name, /etc/hosts, /dev/shm and interfaces; files and processes are the
machine's. What `all` starts ends with it, daemons too; what `each` leaves behind stays.

Exit codes: the command's own (of several, the first that is not 0); 127 no such command, 126 it can't be run.)";

constexpr const char* kOneByOne = "each";

int in_all_nodes(const lab::Lab& lab, const std::vector<std::string>& command) {
  std::vector<lab::ContainedProcess> processes;
  const size_t width = lab::node_name(lab.nodes - 1).size();
  for (int node = 0; node < lab.nodes; ++node) {
    const std::string name = lab::node_name(node);
    const auto main = [&lab, &command, node] {
      const Status status = lab::enter_node(lab, node, {"", true});
      return status.is_ok() ? lab::become(command) : fail(kFailure, status.message());
    };
    processes.push_back({main, "[" + std::string(width - name.size(), ' ') + name + "] "});
  }
  return lab::run_contained(processes, kGrace_s);
}

int exit_code_of(pid_t process) {
  constexpr int kSignalled = 128;
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return fail(kFailure, std::string("can't wait for the command: ") + std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

int in_node(const lab::Lab& lab, int node, const std::vector<std::string>& command) {
  const Status status = lab::enter_node(lab, node, {});
  return status.is_ok() ? lab::become(command) : fail(kFailure, status.message());
}

int in_each_node(const lab::Lab& lab, const std::vector<std::string>& command) {
  for (int node = 0; node < lab.nodes; ++node) {
    const pid_t process = fork();
    if (process < 0) return fail(kFailure, Status::system("can't start a process", errno).message());
    if (process == 0) _exit(in_node(lab, node, command));
    const int code = exit_code_of(process);
    if (code == 0) continue;
    const int left = lab.nodes - node - 1;
    const std::string nodes = left == 1 ? " node" : " nodes";
    const std::string others = left == 0 ? "" : "; not run in the " + std::to_string(left) + nodes + " behind it";
    return fail(code, "node " + lab::node_name(node) + ": exit code " + std::to_string(code) + others);
  }
  return kSuccess;
}

int execute(const std::string& name, const std::string& node_word, const std::vector<std::string>& command) {
  if (command.empty()) return fail(kUsage, "what should be run? For example: hocket lab exec n0 -- hostname");
  if (const std::string wrong = unknown_option("lab exec", command); !wrong.empty()) return fail(kUsage, wrong);
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const Result<lab::Lab> found = lab::find(name);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  if (node_word == kOneByOne) return in_each_node(found.value(), command);
  const Result<int> node = lab::parse_node(node_word, found.value().nodes);
  if (!node.is_ok()) return fail(kUsage, node.status().message());
  if (node.value() == lab::kAllNodes) return in_all_nodes(found.value(), command);
  return in_node(found.value(), node.value(), command);
}

int serve_as_agent(const std::string& name, const std::string& job, const std::vector<std::string>& words) {
  const Result<lab::Lab> found = lab::find(name);
  return found.is_ok() ? lab::run_agent(found.value(), job, words) : fail(kFailure, found.status().message());
}

}  // namespace

void add_lab_exec(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("exec", "Run a command in a node, in all, or in each");
  sub->footer(kLabExecFooter);
  show_command_in_usage(*sub, "-- COMMAND ...");
  sub->prefix_command();
  auto name = std::make_shared<std::string>();
  auto node = std::make_shared<std::string>();
  add_lab_name(*sub, *name);
  sub->add_option("node", *node, "n0, n1, ..., all or each")->required()->type_name("NODES");
  sub->callback([=, &invocation] {
    const std::vector<std::string> command = words_behind(*sub, invocation);
    invocation.run = [=] { return execute(*name, *node, command); };
  });

  // What MPIs call in place of ssh; `lab mpirun` writes the script that calls this.
  auto* agent = lab_command.add_subcommand("agent", "")->group("");
  agent->prefix_command();
  auto job = std::make_shared<std::string>();
  agent->add_option("lab", *name)->required();
  agent->add_option("job", *job)->required();
  agent->callback([=, &invocation] {
    const std::vector<std::string> words = words_behind(*agent, invocation);
    invocation.run = [=] { return serve_as_agent(*name, *job, words); };
  });
}

}  // namespace hocket::command
