// SPDX-License-Identifier: BSD-3-Clause
#include "tune/written/table.h"

#include <sys/utsname.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>
#include <utility>

#include "hocket/hocket.h"
#include "platform/machine/topology.h"

namespace hocket::command {
namespace {

std::string ranks_text(const TuneOptions& options) {
  std::string text;
  for (const uint32_t ranks : options.ranks) text += (text.empty() ? "" : ", ") + std::to_string(ranks);
  return text;
}

std::string head(const TuneOptions& options, const Machine& machine, const Survey& survey, const Making& making) {
  char text[1024];
  std::snprintf(
      text, sizeof(text),
      "hocket-table 1\n"
      "# Made by `hocket tune` of hocket %s on %s in %.0f s.\n"
      "# Machine: %s, %u usable cores, %s\n"
      "# Ranks measured: %s. Cells (a collective, a number of ranks, a size): %zu of %zu.\n"
      "# us= and next_us= are microseconds, geometric means of the isolated and back-to-back medians. Algorithms\n"
      "# within %.0f %% of the best, the noise of this run, counted as equally good.\n"
      "# The first line that fits wins; docs/tuning.md describes the format. `crowded`: more ranks than cores.\n",
      hocket_version(), today().c_str(), making.took_s, machine.processor.c_str(), machine.cores,
      machine.kernel.c_str(), ranks_text(options).c_str(), survey.cells_measured, survey.cells,
      (making.noise - 1) * 100);
  return text;
}

bool is_shown(const simulation::CostParameter& one, const simulation::CostParameters& model, bool has_nodes) {
  using simulation::CostShown;
  const bool is_between_nodes = one.shown == CostShown::kBetweenNodes || one.shown == CostShown::kBetweenNodesIfKnown;
  if (is_between_nodes && !has_nodes) return false;
  return one.shown == CostShown::kAlways || one.shown == CostShown::kBetweenNodes || one.of(model) != one.of({});
}

// With the parameters of messages between nodes if `has_nodes`.
std::string model_line(const simulation::CostParameters& model, bool has_nodes) {
  std::string text = "model";
  for (const simulation::CostParameter& one : simulation::kCostParameters) {
    if (!is_shown(one, model, has_nodes)) continue;
    const double value = one.of(model);
    const bool is_whole = one.number != nullptr || value >= 1000;
    char word[64];
    std::snprintf(word, sizeof(word), is_whole ? " %s=%.0f" : " %s=%.3g", one.name, value);
    text += word;
  }
  return text + "\n";
}

constexpr const char* kNotMeasured =
    "# Not known, since it takes three cores behind one cache: hot_line_us, source_us_per_kib.\n";

std::string model_lines(const Fit& fit, bool has_nodes) {
  if (fit.measurements == 0) return has_nodes ? "\n" + model_line(fit.parameters, has_nodes) : "";
  char text[512];
  std::snprintf(
      text, sizeof(text),
      "\n# For what no line below fits: predictions with these parameters. Of %zu measured times they are off by a\n"
      "# factor of %.2f; choosing by them alone would take %.2f times as long as the best in %zu cells.\n",
      fit.measurements, fit.off_by, fit.costs, fit.cells);
  const bool is_silent = !has_nodes && fit.parameters.hot_line_us == 0;
  return text + std::string(is_silent ? kNotMeasured : "") + model_line(fit.parameters, has_nodes);
}

std::string rule_lines(std::span<const selection::Rule> rules) {
  std::string text;
  const schedule::Collective* last = nullptr;
  for (const selection::Rule& rule : rules) {
    if (last == nullptr || *last != rule.collective) text += "\n";
    last = &rule.collective;
    text += aligned_line(rule) + "\n";
  }
  return text;
}

// "2x4, 4x2": nodes x ranks a node.
std::string shapes_text(const Survey& survey) {
  std::set<std::pair<uint32_t, uint32_t>> shapes;
  for (const Measurement& one : survey.measurements) shapes.insert({one.node_count(), one.ranks_a_node()});
  std::string text;
  for (const auto& [nodes, ranks_a_node] : shapes)
    text += (text.empty() ? "" : ", ") + std::to_string(nodes) + "x" + std::to_string(ranks_a_node);
  return text;
}

}  // namespace

std::string today() {
  const time_t now = time(nullptr);
  tm date{};
  gmtime_r(&now, &date);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &date);
  return text;
}

Machine this_machine() {
  Machine machine;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && machine.processor.empty();)
    if (line.starts_with("model name")) machine.processor = line.substr(std::min(line.find(':') + 2, line.size()));
  if (machine.processor.empty()) machine.processor = "an unnamed processor";
  utsname system{};
  uname(&system);
  machine.kernel = std::string(system.sysname) + " " + system.release + " " + system.machine;
  machine.cores = platform::read_cpu_budget().usable();
  return machine;
}

std::string table_text(const TuneOptions& options, const Machine& machine, const Survey& survey,
                       const std::vector<selection::Rule>& rules, const Making& making) {
  return head(options, machine, survey, making) + model_lines(making.fit, false) + rule_lines(rules);
}

std::string cluster_table_text(const ClusterMaking& making, const Fit& fit, const simulation::CostParameters& model,
                               const Survey& survey, std::span<const selection::Rule> fresh,
                               std::span<const selection::Rule> old) {
  char text[1024];
  std::snprintf(text, sizeof(text),
                "hocket-table 1\n"
                "# Made by `hocket tune` of hocket %s on %s in %.0f s, of ranks of an MPI.\n"
                "# MPI: %s\n"
                "# Nodes x ranks measured: %s. Cells (a collective, a shape, a size): %zu of %zu.\n"
                "# us= and next_us= are microseconds, geometric means of the isolated and back-to-back medians.\n"
                "# Algorithms within %.0f %% of the best, the noise of this run, counted as equally good.\n"
                "# The first line that fits wins; docs/tuning.md describes the format.\n",
                hocket_version(), today().c_str(), survey.took_s, survey.mpi.c_str(), shapes_text(survey).c_str(),
                survey.cells_measured, survey.cells, (making.noise - 1) * 100);
  Fit shown = fit;
  shown.parameters = model;
  std::string all = text + model_lines(shown, true) + rule_lines(fresh);
  if (!old.empty()) all += "\n# From the table `" + making.merged + "`:\n" + rule_lines(old);
  return all;
}

}  // namespace hocket::command
