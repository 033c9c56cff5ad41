// SPDX-License-Identifier: BSD-3-Clause
#include "probe/interface.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace hocket::probe {
namespace {

// Of a latency, what is the way's at least: differences of noisy numbers may come out at nothing.
constexpr double kLeastOnTheWay = 0.1;
// More pairs must make this much of a difference to count as better or worse.
constexpr double kNoticeable = 1.1;

double distance(const Interface& interface, const std::vector<Bandwidth>& all) {
  double sum = 0;
  for (const Bandwidth& one : all) sum += std::abs(std::log(predicted_us(interface, one.pairs, one.bytes) / one.us));
  return sum / static_cast<double>(all.size());
}

// From gap and beta a step up and down; when nothing helps any more, smaller steps. Crowding in steps of its own.
double refine(Interface& best, const std::vector<Bandwidth>& all) {
  double least = distance(best, all);
  const auto attempt = [&](const Interface& trial) {
    const double found = distance(trial, all);
    if (found >= least) return false;
    least = found;
    best = trial;
    return true;
  };
  for (double factor = 2; factor > 1.005;) {
    bool better = false;
    for (const double step : {factor, 1 / factor}) {
      Interface trial = best;
      trial.gap_us *= step;
      better = attempt(trial) || better;
      trial = best;
      trial.beta_us_per_kib *= step;
      better = attempt(trial) || better;
      trial = best;
      trial.crowding = std::max(0.0, best.crowding + (step - 1) / 2);
      better = attempt(trial) || better;
    }
    if (!better) factor = std::sqrt(factor);
  }
  return least;
}

void fit_lanes(Interface& interface, const std::vector<Bandwidth>& all) {
  const auto shorter = [](const Bandwidth& a, const Bandwidth& b) { return a.bytes < b.bytes; };
  const Bandwidth& small = *std::min_element(all.begin(), all.end(), shorter);
  const Bandwidth& large = *std::max_element(all.begin(), all.end(), shorter);
  uint32_t most = 1;
  for (const Bandwidth& one : all) most = std::max(most, one.pairs);
  double least = std::numeric_limits<double>::infinity();
  Interface best = interface;
  for (uint32_t lanes = 1; lanes <= most; ++lanes) {
    Interface trial = interface;
    trial.lanes = lanes;
    trial.gap_us = small.us;
    trial.beta_us_per_kib = large.us / (static_cast<double>(large.bytes) / 1024);
    const double found = refine(trial, all);
    // Of equally good ones the fewest lanes: more were never seen to be busy.
    if (found >= least * 0.999) continue;
    least = found;
    best = trial;
  }
  interface = best;
  interface.off_by = std::exp(least);
}

}  // namespace

double predicted_us(const Interface& interface, uint32_t pairs, uint64_t bytes) {
  const double alone_us = interface.gap_us + static_cast<double>(bytes) / 1024 * interface.beta_us_per_kib;
  if (pairs <= interface.lanes) return alone_us;
  const double beyond = pairs - interface.lanes;
  return alone_us * pairs / interface.lanes * (1 + interface.crowding * beyond);
}

Interface interface_of(const Findings& found) {
  Interface interface;
  interface.one_machine = found.machines == 1 && found.nodes > 1;
  std::vector<Bandwidth> usable;
  for (const Bandwidth& one : found.bandwidth)
    if (one.us > 0) usable.push_back(one);
  if (!usable.empty()) fit_lanes(interface, usable);
  const auto shorter = [](const auto& a, const auto& b) { return a.bytes < b.bytes; };
  const auto shortest = std::min_element(found.overhead.begin(), found.overhead.end(), shorter);
  if (shortest != found.overhead.end()) interface.overhead_us = (shortest->send_us + shortest->receive_us) / 2;
  const auto quickest = std::min_element(found.latency.begin(), found.latency.end(), shorter);
  if (quickest != found.latency.end())
    interface.alpha_us =
        std::max(quickest->us - 2 * interface.overhead_us - interface.gap_us, quickest->us * kLeastOnTheWay);
  return interface;
}

std::string to_words(const Interface& interface) {
  char text[256];
  std::snprintf(text, sizeof(text),
                "wire_alpha_us=%.3g wire_overhead_us=%.3g wire_gap_us=%.3g wire_beta_us_per_kib=%.3g wire_lanes=%u "
                "wire_crowding=%.2g one_machine=%u",
                interface.alpha_us, interface.overhead_us, interface.gap_us, interface.beta_us_per_kib, interface.lanes,
                interface.crowding, interface.one_machine ? 1u : 0u);
  return text;
}

std::string judgement(const Interface& interface, const Findings& found) {
  const auto most = std::max_element(found.bandwidth.begin(), found.bandwidth.end(),
                                     [](const Bandwidth& a, const Bandwidth& b) { return a.pairs < b.pairs; });
  if (most == found.bandwidth.end() || most->pairs == 1)
    return "One rank a node takes part: nothing is known of several at a time.";
  const double loss = 1 + interface.crowding * (most->pairs - std::min(interface.lanes, most->pairs));
  char text[256];
  if (interface.lanes > 1)
    std::snprintf(text, sizeof(text), "%u ranks of a node at a time get more through than one%s.", interface.lanes,
                  loss > kNoticeable ? "; beyond these, more of them disturb each other" : "");
  else if (loss > kNoticeable)
    std::snprintf(text, sizeof(text),
                  "One rank of a node gets most through; %u at a time take %.2f times as long for the same.",
                  most->pairs, loss);
  else
    std::snprintf(text, sizeof(text), "One rank of a node gets as much through as several.");
  return text;
}

}  // namespace hocket::probe
