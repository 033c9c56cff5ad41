// SPDX-License-Identifier: BSD-3-Clause
#include "selection/cost_model.h"

#include <algorithm>
#include <bit>

#include "selection/cost_model_walk.h"

namespace hocket::selection {
namespace {

// A block's length where ranks see different ones.
constexpr uint64_t kAssumedBytes = 4096;

// 0: each rank has its own.
uint32_t cores_shared(const Query& query, uint32_t ranks, const CostParameters& parameters) {
  if (!query.crowded) return 0;
  return std::clamp(parameters.cores, 1u, std::max(ranks, 2u) - 1);
}

}  // namespace

struct PricedCall::Parts {
  Query query;
  uint64_t calls = 1;
  PricedSchedule chunk;
};

PricedCall::PricedCall(const Query& query, const Choice& choice) : parts_(std::make_unique<Parts>()) {
  parts_->query = query;
  parts_->calls = std::max<uint64_t>(choice.calls, 1);
  schedule::Shape shape;
  shape.size = std::min(query.ranks, kMaxPricedRanks);
  shape.segments = choice.segments;
  shape.degree = choice.degree == 0 ? 0 : std::min(choice.degree, std::max(shape.size, 2u) - 1);
  shape.keep_order = !query.commutative;
  std::vector<schedule::Plan> plans;
  for (uint32_t rank = 0; rank < shape.size; ++rank) {
    shape.rank = rank;
    plans.push_back(algorithms::make_plan(*choice.algorithm, shape));
  }
  const uint64_t element_bytes = std::max<uint32_t>(query.element_bytes, 1);
  const uint64_t count =
      schedule::lengths_are_agreed(query.collective) ? choice.chunk_elements : kAssumedBytes / element_bytes;
  parts_->chunk = price(plans, count, element_bytes);
}

PricedCall::~PricedCall() = default;
PricedCall::PricedCall(PricedCall&&) noexcept = default;
PricedCall& PricedCall::operator=(PricedCall&&) noexcept = default;

bool PricedCall::can_run() const { return parts_->chunk.can_run; }

double PricedCall::us(const CostParameters& parameters) const {
  const uint32_t cores = cores_shared(parts_->query, parts_->chunk.ranks(), parameters);
  return static_cast<double>(parts_->calls) * walk(parts_->chunk, parameters, cores);
}

std::vector<Prediction> predict(const Query& query, const Table& table) {
  Query rounded = query;
  rounded.bytes = std::bit_floor(query.bytes);
  rounded.row_bytes = std::bit_floor(query.row_bytes);
  rounded.element_bytes = 1;
  rounded.root = 0;
  if (table.kept_predictions() == nullptr) return predict(rounded, table.model());
  return table.kept_predictions()->of(rounded, table.model());
}

std::vector<Prediction> KeptPredictions::of(const Query& query, const CostParameters& parameters) {
  const Key key{query.collective, query.crowded,   query.commutative, query.ranks,
                query.bytes,      query.row_bytes, query.slot_bytes,  query.max_segments};
  const std::scoped_lock lock(mutex_);
  const auto found = kept_.find(key);
  if (found != kept_.end()) return found->second;
  return kept_.emplace(key, predict(query, parameters)).first->second;
}

std::vector<Prediction> predict(const Query& query, const CostParameters& parameters) {
  std::vector<Prediction> predictions;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective)) continue;
    std::vector<uint32_t> degrees(algorithm->degrees.begin(), algorithm->degrees.end());
    if (degrees.empty()) degrees.push_back(0);
    for (const uint32_t degree : degrees) {
      const Spec spec{algorithm, degree, 0};
      const Result<Choice> choice = choose(query, Table(), &spec);
      if (!choice.is_ok()) continue;
      const PricedCall call(query, choice.value());
      if (!call.can_run()) continue;
      const Prediction prediction{spec, call.us(parameters)};
      // Behind those that are as cheap.
      const auto dearer = std::upper_bound(predictions.begin(), predictions.end(), prediction,
                                           [](const Prediction& a, const Prediction& b) { return a.us < b.us; });
      predictions.insert(dearer, prediction);
    }
  }
  return predictions;
}

}  // namespace hocket::selection
