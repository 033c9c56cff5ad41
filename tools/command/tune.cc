// SPDX-License-Identifier: BSD-3-Clause
// hocket tune: reads the command line and hands over to the part that measures.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/size_text.h"
#include "command/command.h"
#include "command/usage.h"
#include "mpi_launch/on_mpi.h"
#include "tune/compare.h"
#include "tune/measure.h"
#include "tune/new_table.h"
#include "tune/on_mpi.h"
#include "tune/written/table.h"
#include "words/collective_names.h"
#include "words/words.h"

namespace hocket::command {
namespace {

constexpr const char* kTuneFooter = R"(
Measures which algorithm serves which call best on this machine, and prints a table that HOCKET_TABLE takes. Use a
machine that does nothing else. Slow candidates are dropped early, so that most of the time goes to the good ones; with
a short budget there are fewer sizes. What is not measured is left to a model, whose parameters are fitted as well.

Examples:
  hocket tune --output site.table                         a minute on two cores; to be used:
  HOCKET_TABLE=$PWD/site.table hocket exec -- mpirun ...
  hocket tune --budget 10m --ranks 4,16 --collectives allreduce,barrier --output site.table
  hocket tune --compare site.table shipped                which is better where, measured side by side
  hocket tune --output site.table --against shipped       both, in one budget
  hocket tune --output cluster.table --budget 10m -- mpirun -n 32 --host a:8,b:8,c:8,d:8
  hocket tune --network site.network                      the same measured for `hocket simulate --network`
  hocket tune --shapes 4x8 --merge cluster.table --output cluster.table -- mpirun -n 32 ...
  hocket tune --from openmpi.json mpich.json --output both.table    one table for several MPIs
With a launcher it measures ranks of an MPI: which algorithm, or which composition of algorithms, or the MPI's own,
serves which call best, on parts of the job that are smaller, too; on several nodes first the interface between them,
as `hocket probe` does.)";

struct TuneWords {
  std::string budget;
  std::string ranks;
  std::string collectives = "all";
  std::string max_bytes = "1M";
  std::string sizes;
  std::vector<std::string> compare;
  std::string shapes;
  std::string inside_mpi;
  NewTable table;
};

Status bad_word(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

Status read_ranks(const std::string& text, TuneOptions& options) {
  if (text.empty()) {
    options.ranks = usual_ranks(options.cores);
    return Status::ok();
  }
  for (const std::string& word : split_at_commas(text)) {
    Result<uint64_t> ranks = parse_size(word);
    if (!ranks.is_ok() || ranks.value() < 2 || ranks.value() > 256)
      return bad_word("--ranks " + word + ": numbers from 2 to 256, separated by commas");
    options.ranks.push_back(static_cast<uint32_t>(ranks.value()));
  }
  std::sort(options.ranks.begin(), options.ranks.end());
  options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
  return options.ranks.empty() ? bad_word("--ranks names no number") : Status::ok();
}

Status read_options(const TuneWords& parsed, TuneOptions& options) {
  options.cores = this_machine().cores;
  options.budget_s = usual_budget_s(options.cores);
  if (!parsed.budget.empty()) {
    Result<double> budget = read_time("--budget", parsed.budget);
    if (!budget.is_ok()) return budget.take_status();
    options.budget_s = budget.value();
  }
  Result<uint64_t> most = parse_size(parsed.max_bytes);
  if (!most.is_ok()) return bad_word("--max-bytes: " + std::string(most.status().message()));
  if (most.value() < 8 || most.value() > (64 << 20)) return bad_word("--max-bytes: from 8 to 64M");
  options.max_bytes = most.value();
  for (const std::string& word : split_at_commas(parsed.sizes)) {
    Result<uint64_t> size = parse_size(word);
    if (!size.is_ok() || size.value() < 8 || size.value() % 8 != 0 || size.value() > (64 << 20))
      return bad_word("--sizes " + word + ": bytes of whole doubles, from 8 to 64M, separated by commas");
    options.sizes.push_back(size.value());
  }
  std::sort(options.sizes.begin(), options.sizes.end());
  options.sizes.erase(std::unique(options.sizes.begin(), options.sizes.end()), options.sizes.end());
  HOCKET_TRY(read_ranks(parsed.ranks, options));
  Result<std::vector<schedule::Collective>> collectives = read_collectives(parsed.collectives);
  if (!collectives.is_ok()) return bad_word("--collectives: " + std::string(collectives.status().message()));
  options.collectives = collectives.take();
  return options.collectives.empty() ? bad_word("--collectives names none") : Status::ok();
}

// Of ranks of an MPI.
int run_under_mpi(const TuneWords& parsed, const OnMpi& job, const TuneOptions& options) {
  if (!parsed.compare.empty() || !parsed.table.against.empty() || !parsed.ranks.empty())
    return fail(kUsage, "--compare, --against and --ranks are of ranks of this machine, without a launcher");
  const ClusterTuning tuning{
      options,           parsed.table.output,  parsed.table.network, parsed.shapes, parsed.table.merge,
      parsed.table.json, parsed.budget.empty()};
  return run_on_mpi(job, [&](bench::MpiRanks& ranks) { return tune_on_mpi(ranks, tuning); });
}

int run_from(const TuneWords& parsed) {
  if (!parsed.compare.empty() || !parsed.table.against.empty() || !parsed.ranks.empty() || !parsed.shapes.empty() ||
      !parsed.table.network.empty())
    return fail(kUsage,
                "--from measures nothing: --compare, --against, --ranks, --shapes and --network mean nothing with it");
  return table_from_surveys(parsed.table);
}

int run(const TuneWords& parsed, const Invocation& invocation) {
  TuneOptions options;
  if (const Status status = read_options(parsed, options); !status.is_ok()) return fail(kUsage, status.message());
  const OnMpi job{"tune", invocation.command, invocation.own_arguments, parsed.inside_mpi, false, false, 0};
  if (!parsed.table.from.empty()) return run_from(parsed);
  if (is_on_mpi(job)) return run_under_mpi(parsed, job, options);
  if (!parsed.shapes.empty()) return fail(kUsage, "--shapes is of ranks of an MPI: give a launcher behind --");
  if (!parsed.compare.empty()) {
    if (!parsed.table.output.empty() || !parsed.table.against.empty() || !parsed.table.network.empty())
      return fail(kUsage,
                  "--compare measures two tables that exist: it goes without --output, --against and --network");
    Progress progress(options.budget_s);
    return compare_tables(options, parsed.compare[0], parsed.compare[1], parsed.table.json, progress);
  }
  if (!parsed.table.against.empty()) {
    if (parsed.table.output.empty())
      return fail(kUsage, "--against needs --output: ranks read the new table from a file");
    if (parsed.table.json) return fail(kUsage, "--json and --against: one at a time; --compare can have --json");
    if (Result<selection::Table> table = table_named(parsed.table.against); !table.is_ok())
      return fail(kFailure, table.status().message());
  }
  return measure_table(parsed.table, options);
}

}  // namespace

void add_tune(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("tune", "Measure this machine and write a tuning table, or compare two tables");
  sub->footer(kTuneFooter);
  auto parsed = std::make_shared<TuneWords>();
  sub->add_option("--budget", parsed->budget,
                  "wall-clock time for all of it: 60s, 5m (default: half a minute a core, 1m to 10m)");
  sub->add_option("--output", parsed->table.output, "the table's file (default: print it)")->type_name("FILE");
  sub->add_option("--ranks", parsed->ranks, "numbers of ranks (default: powers of two beyond the cores)");
  sub->add_option("--collectives", parsed->collectives, "separated by commas")
      ->type_name("COLLECTIVES")
      ->capture_default_str();
  sub->add_option("--max-bytes", parsed->max_bytes, "the longest message")->capture_default_str();
  sub->add_option("--sizes", parsed->sizes, "bytes: 2K,8K,16K (default: each eight times the last, up to the longest)");
  sub->add_option("--compare", parsed->compare, "two tables, files or `shipped`: measure both, side by side")
      ->expected(2)
      ->type_name("FILE");
  sub->add_option("--against", parsed->table.against, "compare the new table with this one, a file or `shipped`")
      ->type_name("FILE");
  sub->add_option("--network", parsed->table.network,
                  "write a network for `hocket simulate` to this file; the table, too, only with --output or --json")
      ->type_name("FILE");
  sub->add_option("--shapes", parsed->shapes,
                  "with a launcher: nodes x ranks a node, 2x4,4x8 (default: powers of two up to what there is)");
  sub->add_option("--merge", parsed->table.merge,
                  "with a launcher: what else the table shall have: that of a file, `shipped`, or `none`")
      ->type_name("FILE")
      ->capture_default_str();
  sub->add_option("--from", parsed->table.from,
                  "measure nothing: a table of what runs with a launcher and --json have printed")
      ->type_name("FILE");
  sub->add_flag("--by-wire", parsed->table.by_wire,
                "with --from: rules of its own for each MPI, and those of all for others")
      ->needs("--from");
  sub->add_flag("--json", parsed->table.json, "everything that was measured, for a program to read");
  add_inside_mpi(*sub, parsed->inside_mpi);
  show_command_in_usage(*sub, "[-- LAUNCHER ...]");
  sub->callback([=, &invocation] { invocation.run = [=, &invocation] { return run(*parsed, invocation); }; });
}

}  // namespace hocket::command
