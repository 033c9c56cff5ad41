// SPDX-License-Identifier: BSD-3-Clause
// A tuning table as text: rules, the model's parameters, and in comments where they come from.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tune/fit.h"

namespace hocket::command {

struct Machine {
  std::string processor;  // "AMD EPYC ..."
  std::string kernel;     // "Linux 6.18.0 x86_64"
  uint32_t cores = 1;     // usable
};
Machine this_machine();
std::string today();  // "2026-11-27"

struct Making {
  Fit fit;
  double noise = kNoise;  // within which algorithms counted as equally good
  double took_s = 0;
};

// Of a table for several nodes: what its head says.
struct ClusterMaking {
  std::string merged;  // where the other rules come from
  double noise = kNoise;
};
// `fresh` before `old` ones. `fit`: how well `model` does.
std::string cluster_table_text(const ClusterMaking& making, const Fit& fit, const simulation::CostParameters& model,
                               const Survey& survey, std::span<const selection::Rule> fresh,
                               std::span<const selection::Rule> old);

std::string table_text(const TuneOptions& options, const Machine& machine, const Survey& survey,
                       const std::vector<selection::Rule>& rules, const Making& making);

}  // namespace hocket::command
