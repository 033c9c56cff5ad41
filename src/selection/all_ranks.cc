// SPDX-License-Identifier: BSD-3-Clause
#include "selection/all_ranks.h"

#include <algorithm>

#include "simulation/engine/engine.h"

namespace hocket::selection {
namespace {

// Of all ranks' plans together, by some of them: the first, which may be a root, counts once.
uint64_t estimated_steps(const Query& query, const Choice& choice) {
  constexpr uint32_t kLooked = 16;
  schedule::Shape shape;
  choice.fill(shape);
  shape.size = query.ranks;
  shape.nodes = query.node_count() > 1 ? query.nodes : nullptr;
  shape.keep_order = !query.commutative;
  const auto steps_of = [&](uint32_t rank) -> uint64_t {
    shape.rank = rank;
    return algorithms::make_plan(*choice.algorithm, shape).steps.size();
  };
  uint64_t looked = 0;
  for (uint32_t i = 0; i < kLooked; ++i) {
    // By steps that no number of ranks a node divides, so that not all of them lead their nodes.
    const uint64_t rank = uint64_t{i} * (query.ranks - 1) / kLooked + i;
    looked += steps_of(static_cast<uint32_t>(1 + rank % (query.ranks - 1)));
  }
  return steps_of(0) + looked * (query.ranks - 1) / kLooked;
}

}  // namespace

OnAllRanks simulate_on_all_ranks(const Query& query, const Table& table, const Spec& chosen, uint64_t most_steps) {
  OnAllRanks found;
  std::vector<Spec> specs = {with_degree(chosen)};
  for (const Prediction& prediction : predict(query, table))
    if (!(prediction.spec == specs.front())) specs.push_back(prediction.spec);
  // As often as PricedCall does where ranks share cores.
  const uint64_t times = shares_cores(query, table.model()) ? kOrdersOfSharing : 1;
  uint64_t spent = 0;
  for (const Spec& spec : specs) {
    const Result<Choice> choice = choose(query, table, &spec);
    if (!choice.is_ok() || query.ranks < 2) continue;
    const uint64_t steps =
        query.ranks > kMostSimulatedRanks ? most_steps : times * estimated_steps(query, choice.value());
    if (spent + steps >= most_steps) {
      ++found.left_out;
      continue;
    }
    spent += steps;
    const PricedCall call(query, choice.value(),
                          {.most_ranks = query.ranks, .finds_misses = table.model().wire_miss_us_per_kib > 0});
    if (call.can_run()) found.simulated.push_back({spec, call.us(table.model())});
  }
  std::sort(found.simulated.begin(), found.simulated.end(), [](const Prediction& a, const Prediction& b) {
    return std::pair(a.us, to_text(a.spec)) < std::pair(b.us, to_text(b.spec));
  });
  return found;
}

}  // namespace hocket::selection
