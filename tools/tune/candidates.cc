// SPDX-License-Identifier: BSD-3-Clause
#include "tune/candidates.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"

namespace hocket::command {
namespace {

bool is_same(const schedule::Step& a, const schedule::Step& b) {
  return a.kind == b.kind && a.ends_stage == b.ends_stage && a.incoming_left == b.incoming_left && a.slot == b.slot &&
         a.peer == b.peer && a.version == b.version && a.value == b.value && a.source == b.source &&
         a.destination == b.destination && a.target == b.target;
}

bool is_same(const schedule::Plan& a, const schedule::Plan& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const schedule::Step& x, const schedule::Step& y) { return is_same(x, y); });
}

struct Candidate {
  std::string name;
  std::vector<schedule::Plan> plans;
};

std::vector<schedule::Plan> plans_of(const selection::Query& query, const selection::Choice& choice) {
  std::vector<schedule::Plan> plans;
  schedule::Shape shape;
  shape.size = query.ranks;
  shape.nodes = query.nodes;
  choice.fill(shape);
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank)
    plans.push_back(algorithms::make_plan(*choice.algorithm, shape));
  return plans;
}

// Long messages between nodes are worth cutting: what comes next is on its way while a segment is passed on.
constexpr uint64_t kSegmentBetweenNodes = 32 << 10;

// Velamati et al. found 2 and 4 KiB best on sixteen processors.
constexpr uint64_t kShortestPiece = 4 << 10;

// Of trees the degree says how many rounds leaders take, which is most of what short messages cost. 0: the default.
std::vector<uint32_t> degrees_between_nodes(const selection::Query& query, const algorithms::Algorithm& inner) {
  std::vector<uint32_t> degrees = {0};
  if (inner.collective != schedule::Collective::kBroadcast && inner.collective != schedule::Collective::kReduce)
    return degrees;
  for (size_t i = 1; i < inner.degrees.size(); ++i)
    if (inner.degrees[i] <= query.node_count()) degrees.push_back(inner.degrees[i]);
  return degrees;
}

// The algorithm with its degrees, and cut into segments; of a composition also with each algorithm that its ranks could
// use between nodes.
std::vector<selection::Spec> specs_of(const selection::Query& query, const algorithms::Algorithm& algorithm) {
  std::vector<selection::Spec> specs{{&algorithm, 0}};
  for (const uint32_t degree : degrees_worth_trying(query, algorithm)) {
    const bool is_default = degree == 0 || (!algorithm.degrees.empty() && degree == algorithm.degrees.front() &&
                                            algorithm.degree_by_length == nullptr);
    if (!is_default) specs.push_back({&algorithm, degree});
  }
  if (algorithm.has_pieces) {
    selection::Spec spec{&algorithm};
    spec.piece_bytes = kShortestPiece;
    specs.push_back(spec);
  }
  if (algorithm.segmented && query.node_count() > 1 && query.bytes > kSegmentBetweenNodes)
    specs.push_back({&algorithm, 0, kSegmentBetweenNodes});
  for (size_t part = 0; part < algorithm.parts.size(); ++part) {
    if (algorithm.parts[part].family != algorithms::Family::kAcross) continue;
    for (const algorithms::Algorithm* inner : algorithms::all()) {
      if (inner->collective != algorithm.parts[part].collective || heeds_nodes(*inner) || inner->takes_tree) continue;
      for (const uint32_t degree : degrees_between_nodes(query, *inner)) {
        selection::Spec spec{&algorithm, 0};
        spec.parts[part] = {inner, degree};
        specs.push_back(spec);
      }
    }
  }
  return specs;
}

// With what its parts across nodes were measured with, so that a rule says it: by another table they might be others.
selection::Spec spelt_out(selection::Spec spec, const selection::Choice& choice) {
  for (size_t part = 0; part < spec.algorithm->parts.size(); ++part) {
    if (spec.algorithm->parts[part].family != algorithms::Family::kAcross || choice.parts[part].algorithm == nullptr)
      continue;
    const algorithms::Algorithm& inner = *choice.parts[part].algorithm;
    const bool is_default = !inner.degrees.empty() && choice.parts[part].degree == inner.degrees.front();
    spec.parts[part] = {.algorithm = &inner, .degree = is_default ? 0 : choice.parts[part].degree};
  }
  return spec;
}

}  // namespace

std::vector<std::string> candidates_for(const selection::Query& query, const selection::Table& table) {
  std::vector<Candidate> candidates;
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective) || !is_worth_trying(query, *algorithm)) continue;
    for (const selection::Spec& spec : specs_of(query, *algorithm)) {
      const Result<selection::Choice> choice = selection::choose(query, table, &spec);
      if (!choice.is_ok()) continue;
      Candidate candidate{selection::to_text(spelt_out(spec, choice.value())), plans_of(query, choice.value())};
      const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
        return std::equal(candidate.plans.begin(), candidate.plans.end(), other.plans.begin(),
                          [](const schedule::Plan& x, const schedule::Plan& y) { return is_same(x, y); });
      });
      if (!known) candidates.push_back(std::move(candidate));
    }
  }
  std::vector<std::string> names;
  for (Candidate& candidate : candidates) names.push_back(std::move(candidate.name));
  return names;
}

}  // namespace hocket::command
