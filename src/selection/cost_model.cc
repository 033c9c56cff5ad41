// SPDX-License-Identifier: BSD-3-Clause
#include "selection/cost_model.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "algorithms/facts.h"
#include "simulation/engine/engine.h"

namespace hocket::selection {
namespace {

// A block's length where ranks see different ones.
constexpr uint64_t kAssumedBytes = 4096;

// Of more ranks than `most` some, at even distances.
std::vector<uint32_t> priced_ranks(uint32_t ranks, uint32_t most) {
  const uint32_t count = std::min(ranks, most);
  std::vector<uint32_t> stay(count);
  for (uint32_t i = 0; i < count; ++i) stay[i] = static_cast<uint32_t>(uint64_t{i} * ranks / count);
  return stay;
}

// On several nodes: as many on each of the first nodes as leave room for eight nodes, then as many nodes as there is
// room for. Of domains those at even distances, since neighbours may be on one socket.
std::vector<uint32_t> priced_ranks(const schedule::Nodes& nodes, uint32_t most, bool are_domains) {
  if (nodes.ranks() <= most) return priced_ranks(nodes.ranks(), most);
  const uint32_t places = std::clamp(most / std::min(nodes.count(), 8u), 1u, nodes.most());
  const uint32_t count = std::min(std::max(most / places, 2u), nodes.count());
  std::vector<bool> is_priced(nodes.count());
  for (uint64_t i = 0; i < count; ++i) is_priced[are_domains ? i * nodes.count() / count : i] = true;
  std::vector<uint32_t> stay;
  for (uint32_t rank = 0; rank < nodes.ranks(); ++rank)
    if (is_priced[nodes.node_of(rank)] && nodes.place_of(rank) < places) stay.push_back(rank);
  return stay;
}

schedule::Nodes nodes_of(const schedule::Nodes& nodes, const std::vector<uint32_t>& ranks) {
  std::vector<uint64_t> labels;
  for (const uint32_t rank : ranks) labels.push_back(nodes.node_of(rank));
  return schedule::Nodes(labels);
}

// One root stands for all. The first rank of a node would flatter trees that know nothing of nodes: their branches
// begin at the root, and with that one alone they happen to lie within nodes.
uint32_t priced_root(const schedule::Nodes& nodes) { return nodes.ranks_of(0)[nodes.ranks_on(0) / 2]; }

}  // namespace

double buffers_kib(const Query& query) {
  const bool is_known = schedule::lengths_are_agreed(query.collective);
  const double blocks =
      schedule::input_blocks(query.collective, query.ranks) + schedule::output_blocks(query.collective, query.ranks);
  return blocks * query.ranks_a_node() * static_cast<double>(is_known ? query.bytes : kAssumedBytes) / 1024;
}

bool shares_cores(const Query& query, const CostParameters& parameters) {
  return query.oversubscribed ||
         (query.node_count() > 1 && parameters.one_machine != 0 && query.ranks > parameters.cores);
}

CostParameters assumed(const CostParameters& said, const Query& query) {
  // Of a message that takes alpha, a line goes there and back; a cache serves several readers better than one; and a
  // line from another socket takes two to three times as long as from this one. Sources: where the model's tests have a
  // machine of two sockets.
  constexpr double kTransferAlphas = 0.5, kSourceBetas = 0.4;
  constexpr double kFartherAlphas = 0.85, kFartherBetas = 0.45;
  CostParameters parameters = said;
  if (!query.has_cores || query.ranks_a_node() <= 2) return parameters;
  const auto assume = [](double& parameter, double value) {
    if (parameter == 0) parameter = value;
  };
  assume(parameters.hot_line_us, kTransferAlphas * said.alpha_us);
  assume(parameters.source_us_per_kib, kSourceBetas * said.beta_us_per_kib);
  if (query.caches != nullptr) {
    assume(parameters.other_cache_us, kFartherAlphas * said.alpha_us);
    assume(parameters.other_cache_us_per_kib, kFartherBetas * said.beta_us_per_kib);
  }
  if (query.sockets != nullptr) {
    assume(parameters.other_socket_us, kFartherAlphas * said.alpha_us);
    assume(parameters.other_socket_us_per_kib, kFartherBetas * said.beta_us_per_kib);
  }
  return parameters;
}

struct PricedCall::Parts {
  std::optional<schedule::Nodes> nodes;  // that stand for those of the query, or for its domains
  Query query;
  double calls = 1;  // as long as the one that is simulated
  std::optional<simulation::Job> chunk;
};

namespace {

// Of a block for each rank and each other.
constexpr uint64_t kMostSimulatedBytes = uint64_t{1} << 48;

// A tree that is given is one of so many ranks, and fewer are priced.
bool is_given(const Choice& choice) {
  const auto is_one = [](const auto& chosen) {
    return chosen.algorithm != nullptr && chosen.algorithm->takes_tree && chosen.degree != 0;
  };
  return is_one(choice) || std::any_of(std::begin(choice.parts), std::end(choice.parts), is_one);
}

// `ranks`: those of the query that the schedule's stand for.
void place(const Query& query, const std::vector<uint32_t>& ranks, simulation::Job& job) {
  if (query.node_count() > 1 || (query.caches == nullptr && query.sockets == nullptr)) return;
  for (const uint32_t rank : ranks) {
    job.cache_of.push_back(query.caches == nullptr ? 0 : query.caches->node_of(rank));
    job.socket_of.push_back(query.sockets == nullptr ? 0 : query.sockets->node_of(rank));
  }
}

}  // namespace

PricedCall::PricedCall(const Query& query, const Choice& choice, const Closeness& closeness)
    : parts_(std::make_unique<Parts>()) {
  parts_->query = query;
  parts_->calls = static_cast<double>(std::max<uint64_t>(choice.calls, 1));
  if (is_given(choice)) return;
  schedule::Shape shape;
  choice.fill(shape);
  const bool on_several = query.node_count() > 1;
  const bool over_domains = !on_several && query.domains != nullptr && algorithms::heeds_nodes(*choice.algorithm);
  const bool is_over_nodes = on_several || over_domains;
  const std::vector<uint32_t> ranks = is_over_nodes
                                          ? priced_ranks(*query.composed_over(), closeness.most_ranks, over_domains)
                                          : priced_ranks(query.ranks, closeness.most_ranks);
  if (is_over_nodes) parts_->nodes.emplace(nodes_of(*query.composed_over(), ranks));
  if (on_several) shape.nodes = &*parts_->nodes;
  if (over_domains) shape.domains = &*parts_->nodes;
  shape.root = parts_->nodes ? priced_root(*parts_->nodes) : 0;
  shape.size = static_cast<uint32_t>(ranks.size());
  shape.degree = choice.degree == 0 ? 0 : std::min(choice.degree, std::max(shape.size, 2u) - 1);
  shape.keep_order = !query.commutative;
  const uint64_t element_bytes = std::max<uint32_t>(query.element_bytes, 1);
  uint64_t count =
      schedule::lengths_are_agreed(query.collective) ? choice.chunk_elements : kAssumedBytes / element_bytes;
  // Times of what is longer than memories are would not fit into the simulation's; it takes as many times as long.
  const uint64_t most = std::max<uint64_t>(kMostSimulatedBytes / (element_bytes * shape.size * shape.size), 1);
  if (count > most) {
    parts_->calls *= static_cast<double>(count) / static_cast<double>(most);
    count = most;
  }
  simulation::JobWriter writer(shape.size, shape.nodes, count, element_bytes, closeness.finds_misses);
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank)
    writer.add(algorithms::make_plan(*choice.algorithm, shape));
  parts_->chunk = writer.finish();
  parts_->chunk->buffers_kib = buffers_kib(query);
  place(query, ranks, *parts_->chunk);
}

PricedCall::~PricedCall() = default;
PricedCall::PricedCall(PricedCall&&) noexcept = default;
PricedCall& PricedCall::operator=(PricedCall&&) noexcept = default;

bool PricedCall::can_run() const { return parts_->chunk.has_value(); }

double PricedCall::us(const CostParameters& parameters) const {
  if (!can_run()) return std::numeric_limits<double>::infinity();
  simulation::Network network;
  network.costs = assumed(parameters, parts_->query);
  network.more.multicast_overhead_us = network.costs.wire_overhead_us;
  simulation::Situation situation;
  situation.shares_cores = shares_cores(parts_->query, parameters);
  const uint64_t orders = situation.shares_cores ? kOrdersOfSharing : 1;
  double us = 0;
  for (situation.order = 0; situation.order < orders; ++situation.order) {
    const simulation::Outcome outcome = simulation::Engine(*parts_->chunk, network, situation).run();
    us += outcome.is_finished ? simulation::to_us(outcome.end) : std::numeric_limits<double>::infinity();
  }
  return parts_->calls * us / static_cast<double>(orders);
}

namespace {

std::vector<Prediction> price_all(const Query& query, const Table& table) {
  std::vector<Prediction> predictions;
  const Closeness closeness{.finds_misses = table.model().wire_miss_us_per_kib > 0};
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithm->collective != schedule::base_of(query.collective) || !is_worth_trying(query, *algorithm)) continue;
    // How often one is missed is not known: that is for measurements to say.
    if (algorithms::facts_of(*algorithm).multicasts) continue;
    for (const uint32_t degree : degrees_worth_trying(query, *algorithm)) {
      const Spec spec{algorithm, degree};
      const Result<Choice> choice = choose(query, table, &spec);
      if (!choice.is_ok()) continue;
      const PricedCall call(query, choice.value(), closeness);
      if (!call.can_run()) continue;
      const Prediction prediction{spec, call.us(table.model())};
      // Behind those that are as cheap.
      const auto dearer = std::upper_bound(predictions.begin(), predictions.end(), prediction,
                                           [](const Prediction& a, const Prediction& b) { return a.us < b.us; });
      predictions.insert(dearer, prediction);
    }
  }
  return predictions;
}

}  // namespace

std::vector<Prediction> predict(const Query& query, const CostParameters& parameters) {
  return price_all(query, Table(parameters));
}

namespace {

Query rounded(Query query) {
  query.bytes = std::bit_floor(query.bytes);
  query.row_bytes = std::bit_floor(query.row_bytes);
  query.element_bytes = 1;
  return query;
}

}  // namespace

std::vector<Prediction> predict(const Query& exact, const Table& table) {
  const Query query = rounded(exact);
  if (table.kept_predictions() == nullptr) return price_all(query, table);
  return table.kept_predictions()->of(query, table);
}

double predict_one(const Query& exact, const Table& table, const Spec& spec) {
  const Query query = rounded(exact);
  const Result<Choice> choice = choose(query, table, &spec);
  if (!choice.is_ok()) return -1;
  const PricedCall call(query, choice.value());
  return call.can_run() ? call.us(table.model()) : -1;
}

KeptPredictions::Key KeptPredictions::key_of(const Query& query, const Table& table) {
  std::vector<uint32_t> nodes;
  if (query.node_count() > 1)
    for (uint32_t rank = 0; rank < query.ranks; ++rank) nodes.push_back(query.nodes->node_of(rank));
  else if (query.domains != nullptr || query.caches != nullptr || query.sockets != nullptr)
    for (const schedule::Nodes* groups : {query.domains, query.caches, query.sockets})
      for (uint32_t rank = 0; rank < query.ranks; ++rank)
        nodes.push_back(groups == nullptr ? 0 : groups->node_of(rank));
  return {
      query.collective, query.oversubscribed, query.commutative,  query.ranks,       query.bytes,
      query.row_bytes,  query.slot_bytes,     query.max_segments, query.composition, query.part,
      query.limits,     std::move(nodes),     table.wire(),       query.has_cores,   query.why_no_multicast.empty()};
}

std::vector<Prediction> KeptPredictions::of(const Query& query, const Table& table) {
  const Key key = key_of(query, table);
  {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.find(key);
    if (found != kept_.end()) return found->second;
  }
  // Unlocked: the parts of compositions are predicted meanwhile, and kept too.
  std::vector<Prediction> predictions = price_all(query, table);
  const std::scoped_lock lock(mutex_);
  return kept_.emplace(key, std::move(predictions)).first->second;
}

}  // namespace hocket::selection
