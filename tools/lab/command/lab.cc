// SPDX-License-Identifier: BSD-3-Clause
// hocket lab: a cluster inside one machine.
#include <CLI/CLI.hpp>

#include "command/command.h"
#include "lab/building/build.h"
#include "lab/building/remove.h"
#include "lab/command/parts.h"
#include "lab/lab.h"
#include "lab/words.h"

namespace hocket::command {
namespace {

constexpr const char* kLabFooter = R"(
Examples:
  hocket lab up 4                                  nodes n0 to n3, joined by a switch
  hocket lab exec n0 -- ip address                 any command, seen from a node
  hocket lab mpirun --mpi openmpi -n 8 ./app       ranks of a real MPI on the nodes, over TCP
  hocket lab mpirun --with-hocket -n 8 ./app       the same with hocket in it
  hocket lab loss all 1%                           packets get lost on their way
  hocket lab record run.jsonl -- ./my-test         each packet of NIC engines meanwhile, and what became of it
  hocket lab status                                nodes, addresses, what is in force, who runs there
  hocket lab down                                  and nothing is left
It needs root. docs/lab.md tells how it is made and what each MPI is told.)";

int make_lab(const lab::BuildOptions& options) {
  if (options.nodes < 1 || options.nodes > lab::kMostNodes)
    return fail(kUsage, "a lab has 1 to " + std::to_string(lab::kMostNodes) + " nodes; " +
                            std::to_string(options.nodes) + " were asked for");
  if (const Status status = lab::check_name(options.name); !status.is_ok()) return fail(kUsage, status.message());
  const Result<lab::Lab> built = lab::build(options);
  if (!built.is_ok()) return fail(kFailure, built.status().message());
  const lab::Lab& made = built.value();
  const std::string last = lab::node_name(made.nodes - 1);
  std::printf("lab %s is up: n0 to %s, %s to %s, switch %s\n", made.name.c_str(), last.c_str(),
              made.address_text(0).c_str(), made.address_text(made.nodes - 1).c_str(),
              lab::switch_name(made.switch_kind));
  return kSuccess;
}

int remove_labs(const std::string& name, bool all) {
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  if (all && !name.empty()) return fail(kUsage, "a lab's name or --all, not both");
  std::vector<std::string> condemned = lab::names();
  if (!all && (!name.empty() || condemned.size() != 1)) {
    // Says which there are where the name is wrong or none was given. What is stale is removed all the same.
    const Result<lab::Lab> found = name.empty() ? lab::find(name) : lab::load(name);
    if (!found.is_ok() && (name.empty() || !lab::check_name(name).is_ok() || !lab::exists(name)))
      return fail(kFailure, found.status().message());
    condemned = {name};
  }
  if (condemned.empty()) return kSuccess;
  const Result<lab::Lock> lock = lab::Lock::take();
  if (!lock.is_ok()) return fail(kFailure, lock.status().message());
  int code = kSuccess;
  for (const std::string& one : condemned) {
    if (const Status status = lab::remove(one); !status.is_ok()) code = fail(kFailure, status.message());
  }
  lock.value().tidy_up();
  return code;
}

}  // namespace

void add_lab_name(CLI::App& subcommand, std::string& name) {
  subcommand.add_option("--name", name, "which lab (default: the only one there is)")->type_name("LAB");
}

void add_which_lab(CLI::App& subcommand, std::string& name, const std::string& help) {
  auto* lab = subcommand.add_option("lab", name, help)->type_name("LAB");
  subcommand.add_option("--name", name, "the same, as other subcommands have it")->type_name("LAB")->excludes(lab);
}

std::vector<std::string> words_behind(const CLI::App& subcommand, const Invocation& invocation) {
  std::vector<std::string> words = subcommand.remaining();
  // A "--" in front is ours, a later one the program's.
  if (invocation.has_command && !words.empty()) words.emplace_back("--");
  words.insert(words.end(), invocation.command.begin(), invocation.command.end());
  return words;
}

void add_lab_building(CLI::App& lab_command, Invocation& invocation) {
  auto* up = lab_command.add_subcommand("up", "Make a lab of N nodes");
  auto options = std::make_shared<lab::BuildOptions>();
  auto kind = std::make_shared<std::string>("bridge");
  auto cores = std::make_shared<std::string>("shared");
  up->add_option("nodes", options->nodes, "how many nodes, 1 to " + std::to_string(lab::kMostNodes))
      ->required()
      ->type_name("N");
  up->add_option("--name", options->name, "the lab's name, where there are several (default: lab)");
  up->add_option("--ppn", options->ranks_per_node, "ranks a node where mpirun is not told otherwise (default: 1)")
      ->check(CLI::Range(1, 1024));
  up->add_option("--cores", *cores, "shared: all nodes use all cores (default); own: each has some, or one, to itself")
      ->check(CLI::IsMember({"shared", "own"}));
  up->add_option("--switch", *kind,
                 "bridge: the kernel's, an ordinary network (default); redirect: a BPF program, faster")
      ->check(CLI::IsMember({"bridge", "redirect"}));
  up->callback([=, &invocation] {
    options->switch_kind = *kind == "redirect" ? lab::SwitchKind::kRedirect : lab::SwitchKind::kBridge;
    options->own_cores = *cores == "own";
    invocation.run = [=] { return make_lab(*options); };
  });

  auto* down = lab_command.add_subcommand("down", "Remove a lab, with whatever runs in it");
  auto name = std::make_shared<std::string>();
  auto all = std::make_shared<bool>(false);
  add_which_lab(*down, *name, "which (default: the only one there is)");
  down->add_flag("--all", *all, "all of them");
  down->callback([=, &invocation] { invocation.run = [=] { return remove_labs(*name, *all); }; });
}

void add_lab(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("lab", "A cluster inside this machine: nodes, a switch, real MPI ranks, packet loss");
  sub->footer(kLabFooter);
  sub->require_subcommand(1);
  add_lab_building(*sub, invocation);
  add_lab_status(*sub, invocation);
  add_lab_exec(*sub, invocation);
  add_lab_mpirun(*sub, invocation);
  add_lab_impairments(*sub, invocation);
  add_lab_record(*sub, invocation);
  add_lab_bench(*sub, invocation);
  add_lab_bench_rank(*sub, invocation);
}

}  // namespace hocket::command
