// SPDX-License-Identifier: BSD-3-Clause
// hocket lab exec: a command in a node, or in all of them.
#include "command/command.h"
#include "command/lab_command.h"
#include "command/words.h"
#include "lab/contained.h"
#include "lab/job.h"
#include "lab/lab.h"
#include "lab/node.h"
#include "lab/words.h"

namespace hocket::command {
namespace {

constexpr double kGrace_s = 5;

constexpr const char* kFooter = R"(
Examples:
  hocket lab exec n0 -- bash                       a shell in node n0
  hocket lab exec all -- cat /proc/net/dev         in every node at once, each line with its node in front
The command sees the node's network, host name, /etc/hosts, /dev/shm and interfaces; files and processes are the
machine's. What `all` starts ends with it.

Exit codes: the command's own (of `all`, the first that is not 0); 127 no such command, 126 it can't be run.)";

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

int execute(const std::string& name, const std::string& node_word, const std::vector<std::string>& command) {
  if (command.empty()) return fail(kUsage, "what should be run? For example: hocket lab exec n0 -- hostname");
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  const Result<lab::Lab> found = lab::find(name);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  const Result<int> node = lab::parse_node(node_word, found.value().nodes);
  if (!node.is_ok()) return fail(kUsage, node.status().message());
  if (node.value() == lab::kAllNodes) return in_all_nodes(found.value(), command);
  const Status status = lab::enter_node(found.value(), node.value(), {});
  return status.is_ok() ? lab::become(command) : fail(kFailure, status.message());
}

int serve_as_agent(const std::string& name, const std::string& job, const std::vector<std::string>& words) {
  const Result<lab::Lab> found = lab::find(name);
  return found.is_ok() ? lab::run_agent(found.value(), job, words) : fail(kFailure, found.status().message());
}

}  // namespace

void add_lab_exec(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("exec", "Run a command in a node, or in all");
  sub->footer(kFooter);
  show_command_in_usage(*sub, "-- COMMAND ...");
  sub->prefix_command();
  auto name = std::make_shared<std::string>();
  auto node = std::make_shared<std::string>();
  add_lab_name(*sub, *name);
  sub->add_option("node", *node, "n0, n1, ... or all")->required()->type_name("NODE");
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
