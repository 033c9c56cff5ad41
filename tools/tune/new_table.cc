// SPDX-License-Identifier: BSD-3-Clause
#include "tune/new_table.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "tune/compare.h"
#include "tune/earlier.h"
#include "tune/on_mpi.h"
#include "tune/sharing.h"
#include "tune/written/network.h"
#include "tune/written/output.h"
#include "words/say.h"
#include "words/words.h"

namespace hocket::command {
namespace {

// Of the budget: how much goes to what is not the survey.
constexpr double kSharingShare = 0.1;
constexpr double kFitShare = 0.04;
constexpr double kMostFit_s = 4;
constexpr double kAgainstShare = 0.35;

// Of each MPI those that hold under it alone: where its own algorithms win, or all.
Result<std::vector<selection::Rule>> rules_by_wire(const std::vector<Survey>& surveys, bool all_of_each) {
  std::map<std::string, std::vector<Survey>> by_wire;
  for (const Survey& survey : surveys) by_wire[survey.wire].push_back(survey);
  std::vector<selection::Rule> all;
  for (const auto& [wire, some] : by_wire) {
    if (wire.empty()) continue;
    const Survey survey = together(some);
    const std::vector<MeasuredCell> cells = by_cell(survey.measurements);
    const double noise = noise_of(survey.measurements);
    Result<std::vector<selection::Rule>> mpis = make_rules_of_mpi(cells, noise, wire);
    if (!mpis.is_ok()) return mpis;
    all.insert(all.end(), mpis.value().begin(), mpis.value().end());
    if (!all_of_each) continue;
    Result<std::vector<selection::Rule>> rules = make_rules(cells, noise);
    if (!rules.is_ok()) return rules;
    for (selection::Rule& rule : rules.value()) {
      rule.wire = wire;
      all.push_back(std::move(rule));
    }
  }
  return all;
}

}  // namespace

int measure_table(const NewTable& wanted, const TuneOptions& asked) {
  if (const Status status = check_writable("--output", wanted.output); !status.is_ok())
    return fail(kUsage, status.message());
  if (const Status status = check_network_path(wanted.network); !status.is_ok()) return fail(kUsage, status.message());
  TuneOptions options = asked;
  Progress progress(options.budget_s);
  progress.say("what cores share", "");
  options.known = measure_sharing(options.cores, options.budget_s * kSharingShare);
  const double fit_s = std::min(options.budget_s * kFitShare, kMostFit_s);
  const double compare_s = wanted.against.empty() ? 0 : options.budget_s * kAgainstShare;
  Result<Survey> found = survey(options, progress, fit_s + compare_s);
  if (!found.is_ok()) return fail(kFailure, found.status().message());
  if (found.value().measurements.empty()) return fail(kFailure, "the budget was too short to measure anything");
  progress.say("fitting the model", "");
  const Fit fit = fit_model(options, found.value().measurements, fit_s);
  progress.clear();
  const double noise = noise_of(found.value().measurements);
  Result<std::vector<selection::Rule>> rules = make_rules(by_cell(found.value().measurements), noise);
  if (!rules.is_ok()) return fail(kFailure, rules.status().message());
  const std::string text =
      table_text(options, this_machine(), found.value(), rules.value(), {fit, noise, progress.spent_s()});
  // What was written must be readable; and comparing needs a file.
  Result<selection::Table> table = selection::Table::parse(text, "the new table");
  if (!table.is_ok()) return fail(kFailure, table.status().message());
  const Delivery to{wanted.output, wanted.json, wanted.network.empty()};
  if (const Status status = deliver(to, text, found.value(), fit); !status.is_ok())
    return fail(kFailure, status.message());
  say_what_became(options, found.value(), noise, wanted.output);
  const MeasuredNetwork network{this_machine(), "", found.value().measurements, fit, "", false};
  if (const Status status = write_network(wanted.network, network); !status.is_ok())
    return fail(kFailure, status.message());
  if (wanted.against.empty()) return kSuccess;
  return compare_tables(options, wanted.output, wanted.against, wanted.json, progress);
}

int table_from_surveys(const NewTable& wanted) {
  if (const Status status = check_writable("--output", wanted.output); !status.is_ok())
    return fail(kUsage, status.message());
  std::vector<Survey> surveys;
  for (const std::string& path : wanted.from) {
    Result<Survey> survey = read_survey(path);
    if (!survey.is_ok()) return fail(kUsage, survey.status().message());
    surveys.push_back(survey.take());
  }
  Result<selection::Table> base = base_named(wanted.merge);
  if (!base.is_ok()) return fail(kFailure, base.status().message());
  const Survey survey = together(surveys);
  if (survey.measurements.empty()) return fail(kFailure, "--from: the files have no algorithm in common in any cell");
  const double noise = noise_of(survey.measurements);
  Result<std::vector<selection::Rule>> rules = rules_by_wire(surveys, wanted.by_wire);
  if (!rules.is_ok()) return fail(kFailure, rules.status().message());
  Result<std::vector<selection::Rule>> shared = make_rules(by_cell(survey.measurements), noise);
  if (!shared.is_ok()) return fail(kFailure, shared.status().message());
  rules.value().insert(rules.value().end(), shared.value().begin(), shared.value().end());
  const std::vector<selection::Rule> old = left_beside(rules.value(), base.value().rules());
  // Those of the model are no network's in particular.
  const simulation::CostParameters& model = base.value().model();
  const auto text = [&](const Fit& fit) {
    return cluster_table_text({wanted.merge, noise}, fit, model, survey, rules.value(), old);
  };
  Result<selection::Table> table = selection::Table::parse(text({}), "the new table");
  if (!table.is_ok()) return fail(kFailure, table.status().message());
  const Fit fit = judge_model(table.value(), survey.measurements);
  const Status status = deliver({wanted.output, wanted.json}, text(fit), survey, fit);
  if (!status.is_ok()) return fail(kFailure, status.message());
  if (!wanted.output.empty()) std::fprintf(stderr, "hocket tune: wrote %s\n", wanted.output.c_str());
  return kSuccess;
}

}  // namespace hocket::command
