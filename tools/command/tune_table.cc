// SPDX-License-Identifier: BSD-3-Clause
#include "command/tune_table.h"

#include <sys/utsname.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "hocket/hocket.h"
#include "platform/topology.h"

namespace hocket::command {
namespace {

std::string today() {
  const time_t now = time(nullptr);
  tm date{};
  gmtime_r(&now, &date);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d", &date);
  return text;
}

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

std::string model_lines(const Fit& fit) {
  if (fit.measurements == 0) return {};
  const selection::CostParameters& found = fit.parameters;
  char text[512];
  std::snprintf(
      text, sizeof(text),
      "\n# For what no line below fits: predictions with these parameters. Of %zu measured times they are off by a\n"
      "# factor of %.2f; choosing by them alone would take %.2f times as long as the best in %zu cells.\n"
      "model cores=%u alpha_us=%.3g beta_us_per_kib=%.3g gamma_us_per_kib=%.3g switch_us=%.3g\n",
      fit.measurements, fit.off_by, fit.costs, fit.cells, found.cores, found.alpha_us, found.beta_us_per_kib,
      found.gamma_us_per_kib, found.switch_us);
  return text;
}

}  // namespace

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
  std::string text = head(options, machine, survey, making) + model_lines(making.fit);
  const schedule::Collective* last = nullptr;
  for (const selection::Rule& rule : rules) {
    if (last == nullptr || *last != rule.collective) text += "\n";
    last = &rule.collective;
    text += aligned_line(rule) + "\n";
  }
  return text;
}

}  // namespace hocket::command
