// SPDX-License-Identifier: BSD-3-Clause
// One cell: all variants, as long as the budget says.
#include <algorithm>

#include "base/clock.h"
#include "bench/contest.h"

namespace hocket::bench {
namespace {

constexpr uint64_t kFewestRounds = 5;

}  // namespace

std::vector<Summary> measure(const Options& options, const Cell& cell, World& world, const Buffers& buffers,
                             std::span<Variant* const> variants) {
  Contest contest(options, cell, world, buffers, variants);
  for (size_t i = 0; i < contest.size(); ++i) contest.verify(i);
  size_t running = 0;
  for (size_t i = 0; i < contest.size(); ++i) {
    if (!contest.is_running(i)) continue;
    contest.calibrate(i);
    ++running;
  }
  const auto enough = [&] {
    for (size_t i = 0; i < contest.size(); ++i)
      if (contest.is_running(i) && contest.calls(i) < options.iterations) return false;
    return true;
  };
  const uint64_t begin_ns = now_ns();
  double spent_s = 0;
  const double budget_s = options.budget_s * static_cast<double>(std::max<size_t>(running, 1));
  for (uint64_t round = 0; (round < kFewestRounds || spent_s < budget_s) && !enough(); ++round) {
    contest.round(round % 2 == 1);
    spent_s = static_cast<double>(now_ns() - begin_ns) / 1e9;
    world.maximum({&spent_s, 1});
  }
  std::vector<Summary> summaries;
  for (size_t i = 0; i < contest.size(); ++i) summaries.push_back(contest.summary(i));
  return summaries;
}

}  // namespace hocket::bench
