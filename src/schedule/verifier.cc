// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier.h"

#include <algorithm>
#include <utility>

#include "schedule/verifier_simulation.h"
#include "schedule/verifier_world.h"

namespace hocket::schedule {
namespace {

constexpr size_t kMaxRanks = 8192;  // memory grows with their square

std::string check_shapes(std::span<const Plan> plans) {
  if (plans.empty()) return "there are no plans";
  if (plans.size() > kMaxRanks) return "there are more ranks than can be verified";
  for (uint32_t rank = 0; rank < plans.size(); ++rank) {
    Shape expected = plans[0].shape;
    expected.rank = rank;
    expected.size = static_cast<uint32_t>(plans.size());
    if (plans[rank].shape != expected || plans[rank].collective != plans[0].collective) {
      return "the plan of rank " + std::to_string(rank) + " is of another shape";
    }
  }
  if (plans[0].shape.root >= plans.size()) return "the root is not one of the ranks";
  return "";
}

// What a rank's output must hold in the end.
Cell expected_cell(const World& world, uint64_t position) {
  const Plan& plan = world.plans[0];
  const Contributions& of = world.contributions;
  const uint64_t count = world.options.count;
  switch (plan.collective) {
    case Collective::kBroadcast:
      return {static_cast<uint32_t>(position), of.of_rank(plan.shape.root)};
    case Collective::kAllgather:
      return {static_cast<uint32_t>(position % count), of.of_rank(static_cast<uint32_t>(position / count))};
    default:
      return {static_cast<uint32_t>(position), of.of_all()};
  }
}

void check_results(World& world) {
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const std::span<const Cell> output = world.cells(rank, world.layouts[rank].output());
    for (uint64_t i = 0; i < output.size(); ++i) {
      const Cell expected = expected_cell(world, i);
      const Cell found = output[i];
      if (found == expected) continue;
      if (found.value == Contributions::kPoison) break;  // complained about where it happened
      world.complain("rank " + std::to_string(rank) + " ends with element " + std::to_string(i) +
                     " of output made of " + world.contributions.text(found.value) + " (element " +
                     std::to_string(found.element) + ") instead of " + world.contributions.text(expected.value) +
                     " (element " + std::to_string(expected.element) + ")");
      break;
    }
  }
}

void check_exits(World& world) {
  const bool must = world.plans[0].collective == Collective::kBarrier;
  world.report.synchronizing = true;
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    for (uint32_t other = 0; other < world.size(); ++other) {
      if (world.clocks.now(rank)[other] != 0) continue;
      world.report.synchronizing = false;
      if (!must) return;
      world.complain("rank " + std::to_string(rank) + " may leave the barrier before rank " + std::to_string(other) +
                     " has entered it");
    }
  }
}

}  // namespace

std::string Report::text() const {
  std::string lines;
  for (const std::string& problem : problems) lines += problem + "\n";
  if (problems_left_out > 0) lines += "and " + std::to_string(problems_left_out) + " more\n";
  return lines;
}

namespace {

Report prove(std::span<const Plan> plans, const VerifyOptions& options, Trace* trace) {
  if (const std::string problem = check_shapes(plans); !problem.empty()) {
    Report report;
    report.problems.push_back(problem);
    return report;
  }
  World world(plans, options);
  world.trace = trace;
  std::vector<std::vector<Operands>> operands(plans.size());
  for (uint32_t rank = 0; rank < plans.size(); ++rank) {
    resolve_steps(world, rank, operands[rank]);
    if (trace != nullptr) trace->levels.emplace_back(plans[rank].steps.size());
  }
  if (!world.report.is_correct()) return std::move(world.report);
  Simulation simulation(world, std::move(operands));
  if (!simulation.run()) return std::move(world.report);
  simulation.check_totals();
  check_results(world);
  check_exits(world);
  world.report.critical_path = *std::max_element(world.depth.begin(), world.depth.end());
  return std::move(world.report);
}

}  // namespace

Report verify(std::span<const Plan> plans, const VerifyOptions& options) { return prove(plans, options, nullptr); }

Trace trace(std::span<const Plan> plans, uint64_t count) {
  VerifyOptions options;
  options.count = count;
  Trace result;
  result.report = prove(plans, options, &result);
  return result;
}

}  // namespace hocket::schedule
