// SPDX-License-Identifier: BSD-3-Clause
#include "selection/among_neighbours.h"

#include <algorithm>
#include <vector>

#include "algorithms/facts.h"
#include "selection/cost_model.h"
#include "selection/matching.h"

namespace hocket::selection {
namespace {

using algorithms::Algorithm;
using schedule::Neighbours;
using schedule::Step;
using schedule::StepKind;

// A block's length where ranks see different ones.
constexpr uint64_t kAssumedLength = 4096;
// Of more ranks some are looked at, at even distances.
constexpr uint32_t kMostRanksLookedAt = 32;

// What a rank's steps cost.
class Price {
 public:
  Price(const Query& query, uint64_t bytes, const CostParameters& parameters)
      : query_(query), parameters_(parameters), count_(bytes) {
    // Ranks that share a core come one after the other before the last of them is waited for.
    const double sharers = static_cast<double>(query.ranks_a_node()) / std::max(parameters.cores, 1u);
    wait_us_ = shares_cores(query, parameters) ? parameters.switch_us * std::max(sharers, 1.0) : parameters.alpha_us;
  }

  double of(const schedule::Plan& plan) {
    double us = 0;
    Stage stage;
    for (const Step& step : plan.steps) {
      add(plan, step, stage);
      if (!step.ends_stage) continue;
      us += us_of(stage);
      stage = {};
    }
    return us;
  }

 private:
  struct Stage {
    double own_us = 0;
    double wire_us = 0;  // until the last message from another node is there
    bool waits = false;
  };

  double kib(const schedule::Slice& slice) const {
    if (slice.buffer == schedule::Buffer::kNone) return 0;
    return static_cast<double>(schedule::resolve(slice, count_).length) / 1024;
  }
  void add(const schedule::Plan& plan, const Step& step, Stage& stage) const {
    const double length =
        step.kind == StepKind::kSend || step.kind == StepKind::kPublish ? kib(step.source) : kib(step.destination);
    const bool is_message = schedule::is_two_sided(step.kind);
    const bool is_away = is_message && query_.nodes != nullptr && !query_.nodes->together(plan.shape.rank, step.peer);
    if (!is_away) {
      // A message costs both ends, what is published only who reads it.
      const double part = step.kind == StepKind::kCopy ? 0 : schedule::is_one_sided(step.kind) ? 0.5 : 1;
      stage.own_us += part * parameters_.alpha_us + length * parameters_.beta_us_per_kib;
      stage.waits |= step.kind == StepKind::kReceive || schedule::is_one_sided(step.kind);
      return;
    }
    stage.own_us += parameters_.wire_overhead_us;
    // All ranks of a node send so much by its interface.
    const double crowd = static_cast<double>(query_.ranks_a_node()) / std::max(parameters_.wire_lanes, 1u);
    if (step.kind == StepKind::kReceive)
      stage.wire_us += std::max(crowd, 1.0) * (parameters_.wire_gap_us + length * parameters_.wire_beta_us_per_kib);
  }
  double us_of(const Stage& stage) const {
    return stage.own_us + (stage.waits ? wait_us_ : 0) +
           (stage.wire_us > 0 ? parameters_.wire_alpha_us + stage.wire_us : 0);
  }

  const Query& query_;
  const CostParameters& parameters_;
  uint64_t count_;
  double wait_us_ = 0;
};

// With blocks of so many bytes.
double price_of(const Query& query, const Neighbours& neighbours, const Algorithm& algorithm, uint64_t bytes,
                const CostParameters& parameters) {
  Price price(query, bytes, parameters);
  const uint32_t looks = std::min(query.ranks, kMostRanksLookedAt);
  double us = 0;
  for (uint32_t i = 0; i < looks; ++i) {
    schedule::Shape shape;
    shape.size = query.ranks;
    shape.rank = static_cast<uint32_t>(uint64_t{i} * query.ranks / looks);
    shape.nodes = query.nodes;
    shape.neighbours = &neighbours;
    us = std::max(us, price.of(algorithms::make_plan(algorithm, shape)));
  }
  return us;
}

Choice choice_of(const Query& query, const Spec& spec, std::string reason) {
  Choice choice;
  choice.algorithm = spec.algorithm;
  choice.degree = spec.degree;
  choice.chunk_elements = query.bytes / std::max<uint32_t>(query.element_bytes, 1);
  choice.segment_bytes = query.bytes;
  choice.reason = std::move(reason);
  return choice;
}

}  // namespace

std::string why_not_among_neighbours(const Query& query, const Neighbours& neighbours, const Spec& spec) {
  if (spec.is_mpis) return "it is the MPI's own, and the call has come to hocket";
  const Algorithm& algorithm = *spec.algorithm;
  if (algorithm.collective != schedule::base_of(query.collective))
    return "it is an algorithm of " + std::string(schedule::name(algorithm.collective));
  if (schedule::is_vector(query.collective) && !algorithm.takes_vectors)
    return "all ranks must see how long blocks are, and here each sees its own";
  const uint64_t blocks = algorithm.publishes_rows ? neighbours.most_destinations() : 1;
  if (algorithms::facts_of(algorithm).uses_slots && blocks * query.bytes > query.slot_bytes)
    return size_to_text(blocks * query.bytes) + " bytes do not fit into a slot of " + size_to_text(query.slot_bytes);
  return algorithm.why_not_among == nullptr ? "" : std::string(algorithm.why_not_among(neighbours, query.nodes));
}

double price_among_neighbours(const Query& query, const Neighbours& neighbours, const Algorithm& algorithm,
                              const CostParameters& parameters) {
  const bool is_vector = !schedule::lengths_are_agreed(query.collective);
  const double us = price_of(query, neighbours, algorithm, is_vector ? kAssumedLength : query.bytes, parameters);
  if (!is_vector || algorithm.tells_lengths == nullptr) return us;
  const algorithms::LengthsTold told = algorithm.tells_lengths(neighbours);
  return told.among == nullptr ? us : us + price_of(query, *told.among, algorithm, sizeof(uint64_t), parameters);
}

std::vector<NeighbourPrediction> predict_among_neighbours(const Query& query, const Neighbours& neighbours,
                                                          const CostParameters& parameters) {
  std::vector<NeighbourPrediction> found;
  for (const Algorithm* algorithm : algorithms::all_among_neighbors()) {
    if (!why_not_among_neighbours(query, neighbours, Spec{algorithm}).empty()) continue;
    const double us = price_among_neighbours(query, neighbours, *algorithm, parameters);
    const auto dearer =
        std::find_if(found.begin(), found.end(), [&](const NeighbourPrediction& one) { return one.us > us; });
    found.insert(dearer, {algorithm, us});
  }
  return found;
}

Result<Choice> choose_among_neighbours(const Query& query, const Neighbours& neighbours, const Table& table,
                                       const Spec* forced) {
  if (forced != nullptr) {
    const std::string why = why_not_among_neighbours(query, neighbours, *forced);
    if (why.empty()) return choice_of(query, *forced, "forced");
    return Status(Code::kInvalidArgument, std::string(schedule::name(query.collective)) +
                                              " can't be served by the forced " + to_text(*forced) + ": " + why);
  }
  for (const Rule& rule : table.rules()) {
    if (!matches(query, table, rule) || !why_not_among_neighbours(query, neighbours, rule.spec).empty()) continue;
    return choice_of(query, rule.spec, table.source() + ", line " + std::to_string(rule.line));
  }
  const std::vector<NeighbourPrediction> found = predict_among_neighbours(query, neighbours, table.model());
  if (found.empty())
    return Status(Code::kNotSupported, "no algorithm of " + std::string(schedule::name(query.collective)) +
                                           " can serve the neighbours of " + std::to_string(query.ranks) + " ranks");
  return choice_of(query, Spec{found.front().algorithm},
                   "no line of the " + table.source() + " fits; the lowest predicted time");
}

}  // namespace hocket::selection
