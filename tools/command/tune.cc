// SPDX-License-Identifier: BSD-3-Clause
// hocket tune: reads the command line; measures, makes rules, fits the model, writes the table.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/size_text.h"
#include "command/command.h"
#include "command/configuration.h"
#include "command/tune_compare.h"
#include "command/tune_measure.h"
#include "command/tune_table.h"
#include "command/words.h"

namespace hocket::command {
namespace {

constexpr const char* kFooter = R"(
Measures which algorithm serves which call best on this machine, and prints a table that HOCKET_TABLE takes. Use a
machine that does nothing else. Slow candidates are dropped early, so that most of the time goes to the good ones; with
a short budget there are fewer sizes. What is not measured is left to a model, whose parameters are fitted as well.

Examples:
  hocket tune --output site.table                         a minute; to be used:
  HOCKET_TABLE=$PWD/site.table hocket exec -- mpirun ...
  hocket tune --budget 10m --ranks 4,16 --collectives allreduce,barrier --output site.table
  hocket tune --compare site.table shipped                which is better where, measured side by side
  hocket tune --output site.table --against shipped       both, in one budget)";

struct Parsed {
  std::string budget = "60s";
  std::string output;
  std::string ranks;
  std::string collectives = "all";
  std::string max_bytes = "1M";
  std::vector<std::string> compare;
  std::string against;
  bool json = false;
};

// Of the budget: how much goes to what is not the survey.
constexpr double kFitShare = 0.04;
constexpr double kMostFit_s = 4;
constexpr double kAgainstShare = 0.35;
// Above this noise a table is worth little.
constexpr double kBusy = 1.1;

Status invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

// Powers of two up to the cores, the cores themselves, and twice as many, up to 16 at least.
std::vector<uint32_t> usual_ranks(uint32_t cores) {
  std::vector<uint32_t> ranks;
  for (uint32_t count = 2; count <= std::max(16u, 2 * cores); count *= 2) {
    if (count > cores && !ranks.empty() && ranks.back() < cores) ranks.push_back(cores);
    ranks.push_back(count);
  }
  return ranks;
}

Status read_ranks(const std::string& text, TuneOptions& options) {
  if (text.empty()) {
    options.ranks = usual_ranks(options.cores);
    return Status::ok();
  }
  for (const std::string& word : split_at_commas(text)) {
    Result<uint64_t> ranks = parse_size(word);
    if (!ranks.is_ok() || ranks.value() < 2 || ranks.value() > 256)
      return invalid("--ranks " + word + ": numbers from 2 to 256, separated by commas");
    options.ranks.push_back(static_cast<uint32_t>(ranks.value()));
  }
  std::sort(options.ranks.begin(), options.ranks.end());
  options.ranks.erase(std::unique(options.ranks.begin(), options.ranks.end()), options.ranks.end());
  return options.ranks.empty() ? invalid("--ranks names no number") : Status::ok();
}

Status read_collectives(const std::string& text, TuneOptions& options) {
  for (const std::string& word : split_at_commas(text)) {
    bool known = false;
    for (int i = 0; i < schedule::kCollectives; ++i) {
      const auto collective = static_cast<schedule::Collective>(i);
      if (word != "all" && word != name(collective)) continue;
      known = true;
      if (std::find(options.collectives.begin(), options.collectives.end(), collective) == options.collectives.end())
        options.collectives.push_back(collective);
    }
    if (!known) return invalid("--collectives: `" + word + "` is no collective that can be called");
  }
  std::sort(options.collectives.begin(), options.collectives.end());
  return options.collectives.empty() ? invalid("--collectives names none") : Status::ok();
}

Status read_options(const Parsed& parsed, TuneOptions& options) {
  options.cores = this_machine().cores;
  Result<double> budget = read_time("--budget", parsed.budget);
  if (!budget.is_ok()) return budget.take_status();
  options.budget_s = budget.value();
  Result<uint64_t> most = parse_size(parsed.max_bytes);
  if (!most.is_ok()) return invalid("--max-bytes: " + std::string(most.status().message()));
  if (most.value() < 8 || most.value() > (64 << 20)) return invalid("--max-bytes: from 8 to 64M");
  options.max_bytes = most.value();
  HOCKET_TRY(read_ranks(parsed.ranks, options));
  return read_collectives(parsed.collectives, options);
}

// Found out before anything is measured.
Status check_writable(const std::string& path) {
  if (path.empty()) return Status::ok();
  const bool is_new = access(path.c_str(), F_OK) != 0;
  const std::ofstream file(path, std::ios::app);
  if (!file) return invalid("--output: can't write " + path + ": " + std::strerror(errno));
  if (is_new) unlink(path.c_str());
  return Status::ok();
}

// Whole or not at all: ranks of a running job may read the file at any time.
Status write_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  std::ofstream file(draft);
  file << text;
  file.close();
  if (!file || std::rename(draft.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(draft.c_str());
    return Status::system("cannot write " + path, error);
  }
  return Status::ok();
}

nlohmann::ordered_json as_json(const Survey& survey, const Fit& fit, const Machine& machine, const std::string& text) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Measurement& one : survey.measurements)
    rows.push_back({{"collective", name(one.collective)},
                    {"ranks", one.ranks},
                    {"crowded", one.crowded},
                    {"bytes", one.bytes},
                    {"variant", one.variant},
                    {"isolated_us", one.isolated_us},
                    {"back_to_back_us", one.back_to_back_us},
                    {"calls", one.calls},
                    {"wobble", one.wobble}});
  return {{"machine", {{"processor", machine.processor}, {"kernel", machine.kernel}, {"cores", machine.cores}}},
          {"cells", survey.cells},
          {"cells_measured", survey.cells_measured},
          {"model",
           {{"alpha_us", fit.parameters.alpha_us},
            {"beta_us_per_kib", fit.parameters.beta_us_per_kib},
            {"gamma_us_per_kib", fit.parameters.gamma_us_per_kib},
            {"switch_us", fit.parameters.switch_us},
            {"off_by", fit.off_by},
            {"costs", fit.costs}}},
          {"measurements", rows},
          {"table", text}};
}

void tell_what_is_missing(const TuneOptions& options, const Survey& survey) {
  if (survey.cells_measured == survey.cells) return;
  std::string unseen;
  for (const schedule::Collective collective : options.collectives) {
    const bool is_seen =
        std::any_of(survey.measurements.begin(), survey.measurements.end(),
                    [&](const Measurement& measurement) { return measurement.collective == collective; });
    if (!is_seen) unseen += (unseen.empty() ? "; nothing of " : ", ") + std::string(name(collective));
  }
  std::fprintf(stderr, "hocket tune: the budget ended after %zu of %zu cells%s; the model covers the rest\n",
               survey.cells_measured, survey.cells, unseen.c_str());
}

int tune(const Parsed& parsed, const TuneOptions& options) {
  if (const Status status = check_writable(parsed.output); !status.is_ok()) return fail(kUsage, status.message());
  Progress progress(options.budget_s);
  const double fit_s = std::min(options.budget_s * kFitShare, kMostFit_s);
  const double compare_s = parsed.against.empty() ? 0 : options.budget_s * kAgainstShare;
  Result<Survey> found = survey(options, progress, fit_s + compare_s);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  if (found.value().measurements.empty()) return fail(kFailure, "the budget was too short to measure anything");
  progress.say("fitting the model", "");
  const Fit fit = fit_model(options, found.value().measurements, fit_s);
  progress.clear();
  const double noise = noise_of(found.value().measurements);
  Result<std::vector<selection::Rule>> rules = make_rules(by_cell(found.value().measurements), noise);
  if (!rules.is_ok()) return fail(kFailure, rules.status().message());
  const Machine machine = this_machine();
  const std::string text = table_text(options, machine, found.value(), rules.value(), {fit, noise, progress.spent_s()});
  // What was written must be readable; and comparing needs a file.
  Result<selection::Table> table = selection::Table::parse(text, "the new table");
  if (!table.is_ok()) return fail(kFailure, table.status().message());
  if (!parsed.output.empty())
    if (const Status status = write_file(parsed.output, text); !status.is_ok()) return fail(kFailure, status.message());
  if (parsed.json)
    std::printf("%s\n", as_json(found.value(), fit, machine, text).dump(1).c_str());
  else if (parsed.output.empty())
    std::printf("%s", text.c_str());
  tell_what_is_missing(options, found.value());
  if (noise > kBusy)
    std::fprintf(stderr, "hocket tune: the two halves of a measurement differ by %.0f %%: something else runs here\n",
                 (noise - 1) * 100);
  if (!parsed.output.empty()) std::fprintf(stderr, "hocket tune: wrote %s\n", parsed.output.c_str());
  if (parsed.against.empty()) return kSuccess;
  return compare_tables(options, parsed.output, parsed.against, parsed.json, progress);
}

int run(const Parsed& parsed) {
  TuneOptions options;
  if (const Status status = read_options(parsed, options); !status.is_ok()) return fail(kUsage, status.message());
  if (!parsed.compare.empty()) {
    if (!parsed.output.empty() || !parsed.against.empty())
      return fail(kUsage, "--compare measures two tables that exist: it goes with neither --output nor --against");
    Progress progress(options.budget_s);
    return compare_tables(options, parsed.compare[0], parsed.compare[1], parsed.json, progress);
  }
  if (!parsed.against.empty()) {
    if (parsed.output.empty()) return fail(kUsage, "--against needs --output: ranks read the new table from a file");
    if (parsed.json) return fail(kUsage, "--json and --against: one at a time; --compare can have --json");
    if (Result<selection::Table> table = table_named(parsed.against); !table.is_ok())
      return fail(kFailure, table.status().message());
  }
  return tune(parsed, options);
}

}  // namespace

void add_tune(CLI::App& app, Invocation& invocation) {
  auto* sub = app.add_subcommand("tune", "Measure this machine and write a tuning table, or compare two tables");
  sub->footer(kFooter);
  auto parsed = std::make_shared<Parsed>();
  sub->add_option("--budget", parsed->budget, "wall-clock time for all of it: 60s, 5m")->capture_default_str();
  sub->add_option("--output", parsed->output, "the table's file (default: print it)");
  sub->add_option("--ranks", parsed->ranks, "numbers of ranks (default: powers of two beyond the cores)");
  sub->add_option("--collectives", parsed->collectives, "separated by commas")->capture_default_str();
  sub->add_option("--max-bytes", parsed->max_bytes, "the longest message")->capture_default_str();
  sub->add_option("--compare", parsed->compare, "two tables, files or `shipped`: measure both, side by side")
      ->expected(2)
      ->type_name("A B");
  sub->add_option("--against", parsed->against, "compare the new table with this one, a file or `shipped`");
  sub->add_flag("--json", parsed->json, "everything that was measured, for a program to read");
  sub->callback([=, &invocation] { invocation.run = [=] { return run(*parsed); }; });
}

}  // namespace hocket::command
