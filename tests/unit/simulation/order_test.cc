// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm, simulated on drawn networks with drawn skew and noise: times keep the order that plans ask for, as
// the verifier has it, and what the ranks would have in the end is what any other timing gives them.
#include <iostream>
#include <iterator>
#include <random>

#include "algorithms/facts.h"
#include "algorithms/layouts.h"
#include "algorithms/proving.h"
#include "order_check.h"
#include "schedule/verifier/verifier.h"
#include "simulation/network/network_file.h"

namespace hocket::simulation {
namespace {

using algorithms::Algorithm;
using algorithms::Interpreter;
using algorithms::Layout;
using algorithms::Order;
using schedule::Nodes;
using schedule::Plan;
using schedule::Shape;

const std::vector<Layout> kLayouts = {
    {{1}},
    {{2}},
    {{3}},
    {{5}},
    {{8}},
    {{12}},
    {{16}},
    {{1, 1}},
    {{1, 1, 1}},
    {{3, 2}},
    {{1, 1, 1, 1, 1}},
    {{3, 1, 4}},
    {std::vector<uint32_t>(8, 1)},
    {{4, 4, 4}},
    {std::vector<uint32_t>(12, 1)},
    {{4, 4, 4, 4}, Order::kCyclic},
    {{1, 9, 6}},
    {std::vector<uint32_t>(16, 1)},
};

const char* const kDelays[] = {"0", "3us", "uniform:0..1ms", "exponential:20us", "normal:9us,2us"};

uint32_t draws() {
#ifdef HOCKET_SANITIZED
  return 1;
#else
  return algorithms::long_tests() ? 200 : 15;
#endif
}

class SimulatedOrder : public testing::TestWithParam<const Algorithm*> {
 protected:
  void SetUp() override {
    seed_ = algorithms::seed_of_run();
    random_.seed(seed_);
    std::cout << "TEST_SEED=" << seed_ << "\n";
  }

  uint32_t up_to(size_t last) { return static_cast<uint32_t>(random_() % (last + 1)); }
  template <typename List>
  auto one_of(const List& list) {
    return list[up_to(std::size(list) - 1)];
  }

  bool serves(const Nodes& nodes) const {
    if (nodes.ranks() < algorithm_.min_size || nodes.ranks() > algorithm_.max_size) return false;
    if (algorithms::facts_of(algorithm_).multicasts && nodes.most() > 1) return false;
    if (nodes.count() > 1 && !algorithms::runs_over_nodes(algorithm_)) return false;
    return nodes.is_in_blocks() || !is_composition(algorithm_) || !schedule::is_prefix(algorithm_.collective);
  }

  Shape draw_shape(const Nodes& nodes) {
    Shape shape{.size = nodes.ranks(), .nodes = &nodes};
    shape.degree = one_of(algorithms::degrees_to_prove(algorithm_));
    if (algorithm_.segmented) shape.segments = 1 + up_to(11);
    shape.keep_order = up_to(1) == 0 && algorithm_.can_keep_order && algorithms::combines(algorithm_) &&
                       (!is_composition(algorithm_) || nodes.is_in_blocks());
    if (algorithms::has_root(algorithm_) && !(shape.keep_order && algorithm_.root_relative))
      shape.root = up_to(shape.size - 1);
    for (uint32_t i = 0; i < algorithm_.parts.size(); ++i) {
      const std::vector<const Algorithm*> possible =
          algorithms::algorithms_for_part(algorithm_, i, nodes, shape.degree, shape.keep_order);
      const uint32_t drawn = up_to(possible.size());
      if (drawn == possible.size()) continue;
      shape.parts[i] = {.build = possible[drawn]->build, .segments = possible[drawn]->segmented ? 1 + up_to(5) : 1};
    }
    return shape;
  }

  Network draw_network(Situation& situation) {
    Network network = find_network(std::string(one_of(kBuiltInNetworks).name)).take();
    network.more.multicast_loss = one_of(std::vector{0.0, 0.4, 1.0});
    network.more.multicast_needs_receiver = up_to(1);
    network.costs.wire_lanes = 1 + up_to(3);
    network.costs.cores = 1 + up_to(5);
    if (up_to(2) == 0) network.more.leaf_nodes = 4, network.more.leaf_links = 2;
    situation.seed = random_();
    situation.order = random_();
    situation.skew = Distribution::parse(one_of(kDelays)).take();
    situation.noise = Distribution::parse(one_of(kDelays)).take();
    situation.shares_cores = up_to(1) == 0;
    return network;
  }

  // What is simulated is any length, what is carried out some elements: plans serve every count.
  void try_shape(const Nodes& nodes) {
    const Shape shape = draw_shape(nodes);
    const std::vector<Plan> plans = algorithms::plans_of(algorithm_, shape);
    const bool is_barrier = algorithm_.collective == schedule::Collective::kBarrier;
    const uint64_t count = is_barrier ? 0 : 2 * shape.segments + shape.size + 1;
    const schedule::Report report =
        schedule::verify(plans, {.count = count, .commutative = !shape.keep_order, .idempotent = is_barrier});
    ASSERT_TRUE(report.is_correct()) << report.text();
    Interpreter any(plans, count, 1);
    ASSERT_EQ(any.run(), "");
    Situation situation;
    const Network network = draw_network(situation);
    SCOPED_TRACE(algorithms::text(shape) + algorithms::text_of_parts(algorithm_, shape) + " on " + network.name);
    JobWriter writer(shape.size, &nodes, is_barrier ? 0 : one_of(std::vector{1u, 500u, 70'000u}), 8, up_to(1) == 0);
    for (const Plan& plan : plans) writer.add(plan);
    const Job job = writer.finish();
    Engine engine(job, network, situation);
    Watching seen;
    engine.observe(&seen);
    const Outcome outcome = engine.run();
    OrderCheck check(plans, nodes, seen, outcome);
    ASSERT_EQ(check.problem(), "");
    Interpreter simulated(plans, count, seed_);
    ASSERT_EQ(simulated.run_in_order(check.turns()), "");
    for (uint32_t rank = 0; rank < shape.size; ++rank) ASSERT_EQ(simulated.output(rank), any.output(rank)) << rank;
  }

  const Algorithm& algorithm_ = *GetParam();
  uint32_t seed_ = 0;
  std::mt19937 random_;
};

INSTANTIATE_TEST_SUITE_P(Registered, SimulatedOrder,
                         testing::ValuesIn(algorithms::all().begin(), algorithms::all().end()),
                         [](const auto& info) { return algorithms::test_name(*info.param); });

TEST_P(SimulatedOrder, IsThatOfThePlans) {
  uint32_t tried = 0;
  for (Layout layout : kLayouts) {
    layout.seed = seed_;
    const Nodes nodes = layout.nodes();
    if (!serves(nodes)) continue;
    for (uint32_t draw = 0; draw < draws(); ++draw, ++tried) {
      SCOPED_TRACE(algorithms::text(layout) + ", TEST_SEED=" + std::to_string(seed_));
      ASSERT_NO_FATAL_FAILURE(try_shape(nodes));
    }
  }
  EXPECT_GT(tried, 3u);
}

}  // namespace
}  // namespace hocket::simulation
