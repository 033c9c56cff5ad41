// SPDX-License-Identifier: BSD-3-Clause
#include "probe/stopwatch.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"

namespace hocket::probe {
namespace {

// How much of the time of a measurement goes to one batch, within limits.
constexpr double kBatchShare = 0.1;
constexpr double kShortestBatch_us = 200;
constexpr double kLongestBatch_us = 3000;
constexpr uint64_t kMostTurns = 4096;
constexpr size_t kFewestSamples = 5;
constexpr size_t kMostSamples = 2000;
constexpr size_t kPhasesAtOnce = 10;

}  // namespace

Time time_of(const std::vector<double>& samples_us) {
  const bench::Summary summary = bench::summarize(samples_us, samples_us.size());
  return {summary.median_us, summary.p10_us > 0 ? summary.p90_us / summary.p10_us : 1};
}

void Stopwatch::set_share(double share_s) {
  share_s_ = world_.rank() == 0 ? share_s : 0;
  world_.maximum({&share_s_, 1});
  batch_us_ = std::clamp(share_s_ * 1e6 * kBatchShare, kShortestBatch_us, kLongestBatch_us);
}

bool Stopwatch::is_over(uint64_t begin_ns) {
  double spent_s = world_.rank() == 0 ? static_cast<double>(now_ns() - begin_ns) / 1e9 : 0;
  world_.maximum({&spent_s, 1});
  return spent_s >= share_s_;
}

double Stopwatch::batch_us(bool takes_part, uint64_t turns, const std::function<void(uint64_t)>& work) {
  meet(takes_part);
  const double begin_us = now_us();
  if (takes_part) work(turns);
  double took_us = takes_part ? now_us() - begin_us : 0;
  // A rank that waits in an MPI's own call might keep the core from those that are still at work.
  meet(takes_part);
  world_.maximum({&took_us, 1});
  return took_us;
}

Time Stopwatch::turns(bool takes_part, const std::function<void(uint64_t)>& work) {
  const uint64_t begin_ns = now_ns();
  uint64_t turns = 1;
  batch_us(takes_part, 1, work);  // connections are made, caches filled
  for (double took_us = 0; turns < kMostTurns; turns *= 4) {
    took_us = batch_us(takes_part, turns, work);
    if (took_us < batch_us_ / 4) continue;
    const double wanted = static_cast<double>(turns) * batch_us_ / took_us;
    turns = std::clamp<uint64_t>(static_cast<uint64_t>(std::llround(wanted)), 1, kMostTurns);
    break;
  }
  std::vector<double> samples_us;
  while (samples_us.size() < kMostSamples && (samples_us.size() < kFewestSamples || !is_over(begin_ns)))
    samples_us.push_back(batch_us(takes_part, turns, work) / static_cast<double>(turns));
  return time_of(samples_us);
}

std::vector<Time> Stopwatch::phases(bool takes_part, size_t values, const std::function<void(double*)>& work) {
  const uint64_t begin_ns = now_ns();
  std::vector<std::vector<double>> samples_us(values);
  std::vector<double> found(values);
  if (takes_part) work(found.data());
  while (samples_us[0].size() < kMostSamples && (samples_us[0].size() < kFewestSamples || !is_over(begin_ns))) {
    std::vector<double> some(values * kPhasesAtOnce);
    meet(takes_part);
    for (size_t time = 0; takes_part && time < kPhasesAtOnce; ++time) work(&some[time * values]);
    meet(takes_part);
    world_.maximum(some);
    for (size_t i = 0; i < some.size(); ++i) samples_us[i % values].push_back(some[i]);
  }
  std::vector<Time> times;
  for (const std::vector<double>& samples : samples_us) times.push_back(time_of(samples));
  return times;
}

}  // namespace hocket::probe
