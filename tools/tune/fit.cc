// SPDX-License-Identifier: BSD-3-Clause
#include "tune/fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/clock.h"

namespace hocket::command {
namespace {

using selection::PricedCall;
using simulation::CostParameters;

// Enough to determine four numbers many times over, and few enough to be walked through often.
constexpr size_t kMostCalls = 600;

struct PricedMeasurement {
  const Measurement* measured;
  PricedCall call;
};
using Priced = std::vector<PricedMeasurement>;

// `table`: by which the parts of compositions were chosen that their names leave open.
Priced price_all(const std::vector<Measurement>& measurements, const selection::Table& table) {
  Priced priced;
  for (const Measurement& one : measurements) {
    if (!schedule::lengths_are_agreed(one.collective)) continue;  // nothing is known of their sizes
    const selection::Query query =
        query_of(one.ranks, one.oversubscribed, one.nodes.get(), {one.collective, one.bytes});
    Result<selection::Spec> spec = selection::parse_spec(one.collective, one.variant);
    if (!spec.is_ok() || one.us() <= 0) continue;
    Result<selection::Choice> choice = selection::choose(query, table, &spec.value());
    if (choice.is_ok()) priced.push_back({&one, PricedCall(query, choice.value())});
  }
  return priced;
}

// The mean distance of the logarithms, of every `stride`-th call. Not of their squares: the model is simple, and some
// calls it can't explain.
double distance(const Priced& priced, const CostParameters& parameters, size_t stride) {
  double sum = 0;
  size_t calls = 0;
  for (size_t i = 0; i < priced.size(); i += stride, ++calls)
    sum += std::abs(std::log(priced[i].call.us(parameters) / priced[i].measured->us()));
  return calls == 0 ? 0 : sum / static_cast<double>(calls);
}

// From each parameter a step up and down; when nothing helps any more, smaller steps.
CostParameters search(const Priced& priced, CostParameters best, double limit_s) {
  const uint64_t begin_ns = now_ns();
  double CostParameters::* const dials[] = {&CostParameters::alpha_us, &CostParameters::beta_us_per_kib,
                                            &CostParameters::gamma_us_per_kib, &CostParameters::switch_us};
  const size_t stride = std::max<size_t>(1, (priced.size() + kMostCalls - 1) / kMostCalls);
  double least = distance(priced, best, stride);
  for (double factor = 2; factor > 1.02;) {
    bool better = false;
    for (double CostParameters::* const dial : dials)
      for (const double step : {factor, 1 / factor}) {
        if (static_cast<double>(now_ns() - begin_ns) / 1e9 > limit_s) return best;
        CostParameters trial = best;
        trial.*dial *= step;
        const double found = distance(priced, trial, stride);
        if (found >= least) continue;
        least = found;
        best = trial;
        better = true;
        break;
      }
    if (!better) factor = std::sqrt(factor);
  }
  return best;
}

// How well the best prediction of each cell does.
void judge(const Priced& priced, const CostParameters& parameters, Fit& fit) {
  struct Best {
    double predicted_us = INFINITY;
    double its_us = 0;
    double least_us = INFINITY;
    size_t candidates = 0;
  };
  std::map<std::tuple<schedule::Collective, uint32_t, uint32_t, uint64_t>, Best> cells;
  for (const PricedMeasurement& one : priced) {
    const Measurement& of = *one.measured;
    Best& best = cells[{of.collective, of.ranks, of.node_count(), of.bytes}];
    const double predicted_us = one.call.us(parameters);
    if (predicted_us < best.predicted_us) best.its_us = one.measured->us();
    best.predicted_us = std::min(best.predicted_us, predicted_us);
    best.least_us = std::min(best.least_us, one.measured->us());
    ++best.candidates;
  }
  double sum = 0;
  for (const auto& [key, best] : cells) {
    if (best.candidates < 2) continue;
    sum += std::log(best.its_us / best.least_us);
    ++fit.cells;
  }
  if (fit.cells > 0) fit.costs = std::exp(sum / static_cast<double>(fit.cells));
}

}  // namespace

Fit fit_model(const TuneOptions& options, const std::vector<Measurement>& measurements, double limit_s) {
  Fit fit;
  fit.parameters = options.known;
  fit.parameters.cores = options.cores;
  const Priced priced = price_all(measurements, selection::Table());
  fit.measurements = priced.size();
  fit.parameters = search(priced, fit.parameters, limit_s);
  fit.off_by = std::exp(distance(priced, fit.parameters, 1));
  judge(priced, fit.parameters, fit);
  return fit;
}

Fit judge_model(const selection::Table& table, const std::vector<Measurement>& measurements) {
  Fit fit;
  fit.parameters = table.model();
  const Priced priced = price_all(measurements, table);
  fit.measurements = priced.size();
  fit.off_by = std::exp(distance(priced, fit.parameters, 1));
  judge(priced, fit.parameters, fit);
  return fit;
}

}  // namespace hocket::command
