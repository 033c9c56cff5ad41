// SPDX-License-Identifier: BSD-3-Clause
// hocket probe: the interface between nodes, as far as the choice of algorithms needs to know it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>

#include "base/size_text.h"
#include "command/command.h"
#include "command/usage.h"
#include "mpi_launch/on_mpi.h"
#include "probe/report.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr const char* kProbeFooter = R"(
Measures, between ranks of an MPI on two nodes or more: latency and the processor time of a message; the bandwidth of
1, 2, ... pairs of ranks of two nodes, both ways; the start-up cost of an all-to-all as the ranks a node grow; and what
copying into what is sent next costs, against copying out of what has just come. From these, the numbers by which
hocket's model judges algorithms over nodes; `hocket tune -- ...` writes them into a table.

Examples:
  hocket probe -- mpirun -n 16 --host a:8,b:8
  hocket probe --budget 2m --json probe.json -- mpiexec -n 8 -ppn 4 -hosts a,b
  hocket lab mpirun --mpi mpich -n 8 hocket probe             ranks of a lab; any launcher may start it
)";

struct ProbeWords {
  std::string budget = "30s";
  std::string max_bytes = "1M";
  std::string json;
  std::string inside_mpi;
  probe::Options options;
};

bool read(ProbeWords& parsed) {
  const Result<double> budget = read_time("--budget", parsed.budget);
  if (!budget.is_ok()) {
    fail(kUsage, budget.status().message());
    return false;
  }
  parsed.options.budget_s = budget.value();
  const Result<uint64_t> most = parse_size(parsed.max_bytes);
  if (!most.is_ok() || most.value() < 1024 || most.value() > (64 << 20)) {
    fail(kUsage, "--max-bytes " + parsed.max_bytes + ": from 1K to 64M");
    return false;
  }
  parsed.options.max_bytes = most.value();
  return true;
}

int write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << "\n";
  file.close();
  return file ? kSuccess : fail(kFailure, "--json: can't write " + path);
}

int probe_ranks(bench::MpiRanks& ranks, const ProbeWords& parsed) {
  bench::World& world = ranks.world();
  const bool speaks = world.rank() == 0;
  if (const std::string why = probe::why_not(world); !why.empty()) return speaks ? fail(kFailure, why) : kFailure;
  const bool shows_progress = speaks && isatty(STDERR_FILENO) == 1;
  const auto say = [&](const std::string& what) {
    if (shows_progress) std::fprintf(stderr, "\r\033[K%s", what.c_str());
  };
  try {
    const probe::Findings found = probe::measure(parsed.options, world, ranks.own_wire(), ranks.machines(), say);
    if (!speaks) return kSuccess;
    say("");
    const probe::Interface interface = probe::interface_of(found);
    std::printf("%s", probe::to_text(ranks.title(), found, interface).c_str());
    return parsed.json.empty() ? kSuccess : write(parsed.json, probe::to_json(ranks.title(), found, interface));
  } catch (const std::exception& error) {
    fail(kFailure, error.what());
  }
  // The others may wait for this rank.
  ranks.abort(kFailure);
  return kFailure;
}

int run(ProbeWords parsed, const Invocation& invocation) {
  if (!read(parsed)) return kUsage;
  const OnMpi job{"probe", invocation.command, invocation.own_arguments, parsed.inside_mpi, false, false, 0};
  if (!is_on_mpi(job)) return fail(kUsage, "which ranks? Give a launcher: hocket probe -- mpirun -n 16 --host a:8,b:8");
  if (parsed.inside_mpi.empty())
    if (const Status status = check_writable("--json", parsed.json); !status.is_ok())
      return fail(kUsage, status.message());
  return run_on_mpi(job, [&](bench::MpiRanks& ranks) { return probe_ranks(ranks, parsed); });
}

}  // namespace

void add_probe(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("probe", "Know the network interface: bandwidth of several cores, cost of a message");
  sub->footer(kProbeFooter);
  show_command_in_usage(*sub, "[-- LAUNCHER ...]");
  auto parsed = std::make_shared<ProbeWords>();
  sub->add_option("--budget", parsed->budget, "wall-clock time for all of it: 30s, 2m")->capture_default_str();
  sub->add_option("--max-bytes", parsed->max_bytes, "the longest message")->capture_default_str();
  sub->add_option("--pairs", parsed->options.max_pairs, "so many pairs of ranks at most")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub->add_option("--json", parsed->json, "also write everything to this file")->type_name("FILE");
  add_inside_mpi(*sub, parsed->inside_mpi);
  sub->callback([=, &invocation] { invocation.run = [=, &invocation] { return run(*parsed, invocation); }; });
}

}  // namespace hocket::command
