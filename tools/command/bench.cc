// SPDX-License-Identifier: BSD-3-Clause
// hocket bench: reads the command line and hands over to the part that provides the ranks.
#include "bench/bench.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/size_text.h"
#include "bench/comparison/local.h"
#include "bench/comparison/on_mpi.h"
#include "bench/comparison/variants.h"
#include "command/command.h"
#include "command/layout.h"
#include "command/number_range.h"
#include "command/usage.h"
#include "mpi_launch/on_mpi.h"
#include "schedule/collective.h"
#include "selection/table.h"
#include "words/collective_names.h"
#include "words/configuration.h"
#include "words/words.h"

namespace hocket::command {
namespace {

// The paragraph of the help that names them all.
std::string collectives_in_words() {
  std::string text = "COLLECTIVES, by these names or MPI's (bcast, MPI_Bcast): ";
  bool was_vector = false;
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const auto collective = static_cast<schedule::Collective>(i);
    if (i != 0) text += ", ";
    if (!was_vector && schedule::is_vector(collective)) text += "the vector versions ";
    was_vector = schedule::is_vector(collective);
    text += schedule::name(collective);
  }
  text += " (with blocks of equal length, but for --lengths), `all` of them; among neighbours";
  for (int i = schedule::kCollectives; i < schedule::kAllCollectives; ++i) {
    text += i == schedule::kCollectives ? " " : ", ";
    text += schedule::name(static_cast<schedule::Collective>(i));
  }
  text +=
      " (on a --grid of ranks); with --ranks also pingpong (a bare cache line "
      "to another core "
      "and "
      "back: the yardstick); wait (what a rank's waiting for a late one costs in CPU time). Where there is a block for "
      "each rank or neighbour, a size is that of one block.";
  return text;
}

// Lines of at most 120 characters.
std::string filled(const std::string& text) {
  constexpr size_t kWidth = 120;
  std::string lines;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const bool fits = column + 1 + end - begin <= kWidth;
    if (column != 0) lines += fits ? ' ' : '\n';
    column = (column != 0 && fits ? column + 1 : 0) + end - begin;
    lines.append(text, begin, end - begin);
    begin = end + 1;
  }
  return lines;
}

constexpr const char* kBenchFooter = R"(

Timings: isolated lets ranks wait for each other before every call and takes the slowest rank's time; back-to-back
makes calls one after the other, the root moving from rank to rank. Batches of all variants alternate within the same
processes, so that both see the same machine. A result is verified before it is timed; a wrong byte ends the run with
code 1.

Examples:
  hocket bench allreduce -- mpiexec -n 4                       the MPI's own against hocket
  mpiexec -n 4 hocket bench all --sizes 8,64,1K..4M            the same, started the other way round
  hocket bench barrier,allreduce --ranks 8 --json rows.json    hocket's algorithms, no MPI
  hocket bench reduce --ranks 4 --variants 'hocket;tree:degree=2;pieces'
  hocket bench alltoall --variants all -- mpiexec -n 8         the MPI, hocket, and each of hocket's algorithms
  hocket bench alltoall --variants 'mpi;bruck;linear' -- mpiexec -n 8
  hocket bench neighbor_alltoall --ranks 8 --grid 4x2          a halo exchange, each of hocket's algorithms
  hocket bench neighbor_alltoall --grid 3d --stencil full -- mpiexec -n 8     with all 26 neighbours, by MPI and hocket
  hocket bench pingpong,barrier --ranks 2 --bind cores
  hocket bench barrier --ranks 8 --load 2                      two processes burn time beside it
  hocket bench wait -- mpiexec -n 2

An MPI should be at its best: give its settings for more ranks than cores to the launcher, as docs/tuning.md tells.)";

struct BenchWords {
  std::string collectives;
  std::string sizes = "8,64,1K,8K,64K,1M";
  std::string timing = "both";
  std::string type = "double";
  std::string operation = "sum";
  std::string memory = "plain";
  std::string lengths = "equal";
  GridWords grid;
  std::string bind = "none";
  std::string colour = "auto";
  std::vector<std::string> variants;
  std::vector<std::string> printed;
  bool progress = false;
  std::string inside_mpi;  // set by hocket itself when it has started itself anew
  LocalOptions local{0, false, 0};
  bench::Options bench;
};

bool read_collectives(const std::string& text, bench::Options& options) {
  constexpr std::string_view kOthers[] = {"all", "pingpong", "wait"};
  for (const std::string& word : split_at_commas(text)) {
    if (word == "all") {
      for (int i = 0; i < schedule::kCollectives; ++i) options.collectives.push_back(static_cast<bench::Collective>(i));
    } else if (word == "pingpong") {
      options.pingpong = true;
    } else if (word == "wait") {
      options.wait = true;
    } else {
      const Result<bench::Collective> collective = read_any_collective(word, kOthers);
      if (!collective.is_ok()) {
        fail(kUsage, collective.status().message());
        return false;
      }
      options.collectives.push_back(collective.value());
    }
  }
  return true;
}

bool read_words(BenchWords& parsed) {
  bench::Options& options = parsed.bench;
  if (!read_collectives(parsed.collectives, options)) return false;
  Result<std::vector<uint64_t>> sizes = read_sizes("--sizes", parsed.sizes);
  if (!sizes.is_ok()) {
    fail(kUsage, sizes.status().message());
    return false;
  }
  options.sizes = sizes.take();
  if (parsed.timing == "isolated") options.timings = {bench::Timing::kIsolated};
  if (parsed.timing == "back-to-back") options.timings = {bench::Timing::kBackToBack};
  if (parsed.type == "int32") options.element = bench::Element::kInt32;
  if (parsed.type == "int64") options.element = bench::Element::kInt64;
  if (parsed.type == "float") options.element = bench::Element::kFloat;
  if (parsed.operation == "min") options.operation = bench::Operation::kMin;
  if (parsed.operation == "max") options.operation = bench::Operation::kMax;
  options.variants = parsed.variants;
  options.printed = parsed.printed;
  if (parsed.lengths == "uneven") options.lengths = bench::Lengths::kUneven;
  if (parsed.lengths == "sparse") options.lengths = bench::Lengths::kSparse;
  if (parsed.memory == "shared") options.memory = bench::Memory::kShared;
  if (parsed.memory == "window") options.memory = bench::Memory::kWindow;
  if (parsed.memory == "shared-window") options.memory = bench::Memory::kSharedWindow;
  options.colour = parsed.colour == "always" ||
                   (parsed.colour == "auto" && parsed.inside_mpi.empty() && wants_colour(STDOUT_FILENO));
  options.progress = parsed.progress || isatty(STDERR_FILENO) == 1;
  parsed.local.bind = parsed.bind == "cores";
  return true;
}

int run(BenchWords parsed, const std::vector<std::string>& launcher, const std::vector<std::string>& own_arguments) {
  if (!read_words(parsed)) return kUsage;
  OnMpi job{"bench", launcher, own_arguments, parsed.inside_mpi, true, parsed.local.bind, parsed.local.load};
  const bool on_mpi = parsed.local.ranks == 0 && is_on_mpi(job);
  const std::string unknown = unknown_variant(parsed.bench, on_mpi);
  if (!unknown.empty()) return fail(kUsage, unknown);
  if (parsed.inside_mpi.empty())
    if (const Status status = check_writable("--json", parsed.bench.json); !status.is_ok())
      return fail(kUsage, status.message());
  if (parsed.local.ranks != 0) {
    if (parsed.memory.ends_with("window"))
      return fail(kUsage, "--memory " + parsed.memory + " is for ranks of an MPI: give a launcher instead of --ranks");
    if (!launcher.empty()) return fail(kUsage, "either --ranks or a launcher after --, not both");
    return bench_local(parsed.local, parsed.bench, parsed.grid);
  }
  // A rank's output may be a terminal made by the launcher, whatever this one's is.
  if (!launcher.empty() && parsed.colour == "auto")
    job.own_arguments.insert(job.own_arguments.end(), {"--colour", wants_colour(STDOUT_FILENO) ? "always" : "never"});
  if (on_mpi)
    return run_on_mpi(job, [&](bench::MpiRanks& ranks) { return bench_on_mpi(ranks, parsed.bench, parsed.grid); });
  return fail(
      kUsage,
      "which ranks? Give --ranks N for ranks without an MPI, or a launcher: hocket bench allreduce -- mpiexec -n 4");
}

}  // namespace

void add_bench(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("bench", "Measure collectives: an MPI's own against hocket, or hocket's algorithms");
  sub->footer("\n" + filled(collectives_in_words()) + kBenchFooter);
  show_command_in_usage(*sub, "[-- LAUNCHER ...]");
  auto parsed = std::make_shared<BenchWords>();
  sub->add_option("collectives", parsed->collectives, "what to measure, separated by commas")
      ->required()
      ->type_name("NAMES");
  sub->add_option("--ranks", parsed->local.ranks, "that many forked ranks, no MPI")->check(CLI::Range(1, 1024));
  sub->add_option("--sizes", parsed->sizes, "bytes: 8,64,1K..4M (ranges in powers of two)")->capture_default_str();
  sub->add_option("--timing", parsed->timing)
      ->check(CLI::IsMember({"both", "isolated", "back-to-back"}))
      ->capture_default_str();
  sub->add_option("--time-budget", parsed->bench.budget_s, "seconds for each variant in each cell")
      ->check(number_between(0, 3600))
      ->capture_default_str();
  sub->add_option("--iterations", parsed->bench.iterations, "calls of each variant in each cell, at most")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  sub->add_option("--type", parsed->type)
      ->check(CLI::IsMember({"int32", "int64", "float", "double"}))
      ->capture_default_str();
  sub->add_option("--op", parsed->operation)->check(CLI::IsMember({"sum", "min", "max"}))->capture_default_str();
  sub->add_option("--variants", parsed->variants,
                  "hocket (its own choice), mpi, algorithms, `all`; separated by ; (default: mpi and hocket; with "
                  "--ranks all)")
      ->delimiter(';');
  sub->add_option("--print", parsed->printed, "of the variants, those that the table shall have; --json has all")
      ->delimiter(';');
  sub->add_option("--lengths", parsed->lengths,
                  "of an alltoallv's blocks, sizes being the longest: uneven: a third empty, most short, some long; "
                  "sparse: one in sixteen, the others empty")
      ->check(CLI::IsMember({"equal", "uneven", "sparse"}))
      ->capture_default_str();
  add_grid(*sub, parsed->grid);
  sub->add_option("--memory", parsed->memory,
                  "shared: buffers from hocket_alloc or MPI_Alloc_mem; of an MPI also window (MPI_Win_allocate) and "
                  "shared-window (MPI_Win_allocate_shared)")
      ->check(CLI::IsMember({"plain", "shared", "window", "shared-window"}))
      ->capture_default_str();
  sub->add_option("--bind", parsed->bind, "cores: rank i on the i-th usable core, beginning anew after the last")
      ->check(CLI::IsMember({"none", "cores"}))
      ->capture_default_str();
  sub->add_option("--load", parsed->local.load, "that many processes that burn time")->check(CLI::Range(0, 1024));
  sub->add_option("--late", parsed->bench.late_s, "wait: seconds by which rank 0 comes late")
      ->check(number_between(0.01, 600))
      ->capture_default_str();
  sub->add_option("--json", parsed->bench.json, "also write the rows to this file")->type_name("FILE");
  sub->add_option("--colour", parsed->colour)
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->capture_default_str();
  sub->add_flag("--progress", parsed->progress, "say on stderr what is measured even if it is no terminal");
  add_inside_mpi(*sub, parsed->inside_mpi);
  sub->callback([=, &invocation] {
    invocation.run = [=, &invocation] { return run(*parsed, invocation.command, invocation.own_arguments); };
  });
}

}  // namespace hocket::command
