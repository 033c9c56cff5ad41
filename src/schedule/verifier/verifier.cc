// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/verifier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "schedule/verifier/simulation.h"
#include "schedule/verifier/world.h"

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
    expected.in_place = plans[rank].shape.in_place;
    // Nodes of different sizes may make them of different parts.
    std::copy(std::begin(plans[rank].shape.parts), std::end(plans[rank].shape.parts), expected.parts);
    if (plans[rank].shape != expected || plans[rank].collective != plans[0].collective) {
      return "the plan of rank " + std::to_string(rank) + " is of another shape";
    }
  }
  if (plans[0].shape.root >= plans.size()) return "the root is not one of the ranks";
  return "";
}

std::string check_lengths(std::span<const Plan> plans, std::span<const uint64_t> lengths) {
  if (lengths.empty()) return "";
  if (const Neighbours* neighbours = plans[0].shape.neighbours; neighbours != nullptr) {
    const bool is_one = plans[0].collective == Collective::kNeighborAllgather;
    const uint64_t blocks = is_one ? plans.size() : neighbours->blocks();
    return lengths.size() == blocks ? "" : "there must be " + std::to_string(blocks) + " lengths";
  }
  if (!has_block_a_rank(plans[0].collective)) return "lengths are given, but the collective has no block a rank";
  const size_t wanted = plans[0].collective == Collective::kAlltoall ? plans.size() * plans.size() : plans.size();
  return lengths.size() == wanted ? "" : "there must be " + std::to_string(wanted) + " lengths";
}

// What a rank's output must hold in the end, element `i` of its block `block`: among neighbours, and else. What would
// come from beyond an edge leaves its block as it was.
Cell expected_of_neighbour(const World& world, uint32_t rank, uint32_t block, uint64_t i) {
  const Plan& plan = world.plans[rank];
  const uint32_t source = plan.shape.neighbours->sources(rank)[block];
  if (source == kNoRank) return {};
  const Contributions::Id value = world.contributions.of_rank(source);
  if (plan.collective == Collective::kNeighborAllgather) return {static_cast<uint32_t>(i), value};
  const Layout& layout = world.layouts[source];
  const uint64_t begin = layout.input_block(plan.shape.neighbours->origins(rank)[block]).begin;
  return {static_cast<uint32_t>(begin - layout.input().begin + i), value};
}

Cell expected_cell(const World& world, uint32_t rank, uint32_t block, uint64_t i) {
  const Plan& plan = world.plans[0];
  const Contributions& of = world.contributions;
  // Where element i of this rank's block lies in the source's input.
  const auto in_input_of = [&](uint32_t owner) {
    const Layout& layout = world.layouts[owner];
    return static_cast<uint32_t>(layout.input_block(rank).begin - layout.input().begin + i);
  };
  const auto element = static_cast<uint32_t>(i);
  switch (plan.collective) {
    case Collective::kNeighborAllgather:
    case Collective::kNeighborAlltoall:
      return expected_of_neighbour(world, rank, block, i);
    case Collective::kBroadcast:
      return {element, of.of_rank(plan.shape.root)};
    case Collective::kGather:
    case Collective::kAllgather:
      return {element, of.of_rank(block)};
    case Collective::kScatter:
      return {in_input_of(plan.shape.root), of.of_rank(plan.shape.root)};
    case Collective::kAlltoall:
      return {in_input_of(block), of.of_rank(block)};
    case Collective::kReduceScatterBlock:
      return {in_input_of(rank), of.of_all()};
    case Collective::kScan:
      return {element, of.of_first(rank + 1)};
    case Collective::kExscan:
      if (rank > 0) return {element, of.of_first(rank)};
      return world.plans[rank].shape.in_place ? Cell{element, of.of_rank(0)} : Cell{};  // as it was
    default:
      return {element, of.of_all()};
  }
}

// False once a block has been complained about.
bool check_block(World& world, uint32_t rank, uint32_t block) {
  const Layout& layout = world.layouts[rank];
  const Span span = layout.output_block(block);
  const std::span<const Cell> cells = world.cells(rank, span);
  for (uint64_t i = 0; i < cells.size(); ++i) {
    const Cell expected = expected_cell(world, rank, block, i);
    const Cell found = cells[i];
    if (found == expected) continue;
    if (found.value == Contributions::kPoison) return false;  // complained about where it happened
    world.complain("rank " + std::to_string(rank) + " ends with element " +
                   std::to_string(span.begin - layout.output().begin + i) + " of output made of " +
                   world.contributions.text(found.value) + " (element " + std::to_string(found.element) +
                   ") instead of " + world.contributions.text(expected.value) + " (element " +
                   std::to_string(expected.element) + ")");
    return false;
  }
  return true;
}

// Between blocks that lie apart, memory is the caller's. (Where the input lies in the output, it is full of blocks.)
void check_gaps(World& world, uint32_t rank) {
  const Layout& layout = world.layouts[rank];
  if (layout.extents().output == nullptr) return;
  std::vector<bool> belongs(layout.output().length);
  for (uint32_t block = 0; block < layout.output_blocks(); ++block) {
    const Span span = layout.output_block(block);
    for (uint64_t i = span.begin; i < span.end(); ++i) belongs[i - layout.output().begin] = true;
  }
  const std::span<const Cell> cells = world.cells(rank, layout.output());
  for (uint64_t i = 0; i < cells.size(); ++i) {
    if (belongs[i] || cells[i].value == Contributions::kUndefined) continue;
    world.complain("rank " + std::to_string(rank) + " has written element " + std::to_string(i) +
                   " of output, which is between blocks");
    return;
  }
}

void check_results(World& world) {
  for (uint32_t rank = 0; rank < world.size(); ++rank) {
    const uint32_t blocks = world.layouts[rank].output_blocks();
    for (uint32_t block = 0; block < blocks && check_block(world, rank, block); ++block) {
    }
    check_gaps(world, rank);
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
  std::string problem = check_shapes(plans);
  if (problem.empty()) problem = check_lengths(plans, options.lengths);
  if (!problem.empty()) {
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
