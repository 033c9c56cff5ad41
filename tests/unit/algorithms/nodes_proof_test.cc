// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm that may run over several nodes, proved for even and uneven nodes, for ranks in any order, and
// compositions made of any parts. What reaches into another node's memory is found by the verifier.
#include <algorithm>
#include <iostream>
#include <random>

#include "algorithms/composition.h"
#include "algorithms/facts.h"
#include "layouts.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Nodes;
using schedule::Shape;

std::vector<const Algorithm*> for_nodes() {
  std::vector<const Algorithm*> found;
  std::copy_if(all().begin(), all().end(), std::back_inserter(found),
               [](const Algorithm* algorithm) { return runs_over_nodes(*algorithm); });
  return found;
}

class NodesProof : public testing::TestWithParam<const Algorithm*> {
 protected:
  void SetUp() override {
    seed_ = seed_of_run();
    random_.seed(seed_);
    std::cout << "TEST_SEED=" << seed_ << "\n";
  }
  const Algorithm& algorithm() const { return *GetParam(); }
  uint32_t up_to(size_t last) {
    return std::uniform_int_distribution<uint32_t>(0, static_cast<uint32_t>(last))(random_);
  }

  bool keeps(const Nodes& nodes) const {
    return algorithm().can_keep_order && combines(algorithm()) &&
           (!is_composition(algorithm()) || nodes.is_in_blocks());
  }

  // A prefix within nodes is one of neighbours.
  bool serves(const Nodes& nodes) const {
    return nodes.is_in_blocks() || !is_composition(algorithm()) || !is_prefix(algorithm().collective);
  }

  // Another algorithm, or none, for each part.
  void draw_parts(const Nodes& nodes, Shape& shape, bool varies = false) {
    for (uint32_t i = 0; i < algorithm().parts.size(); ++i) {
      const auto possible = algorithms_for_part(algorithm(), i, nodes, shape.degree, shape.keep_order, varies);
      ASSERT_FALSE(possible.empty());
      const uint32_t drawn = up_to(possible.size());
      shape.parts[i] = {};
      if (drawn == possible.size()) continue;
      const Algorithm& part = *possible[drawn];
      shape.parts[i] = {.build = part.build, .degree = 0, .segments = part.segmented ? 1 + up_to(11) : 1};
      if (!part.degrees.empty()) shape.parts[i].degree = part.degrees[up_to(part.degrees.size() - 1)];
    }
  }

  void prove(const Layout& layout, const Shape& shape, const std::vector<uint64_t>& counts) {
    ASSERT_TRUE(is_proved(algorithm(), shape, counts, &proofs_))
        << text(layout) << text_of_parts(algorithm(), shape) << "\nTEST_SEED=" << seed_;
  }
  void prove_vectors(const Layout& layout, const Shape& shape) {
    for (uint32_t seed = 1; seed <= 3; ++seed)
      ASSERT_TRUE(is_proved_for_vectors(algorithm(), shape, seed, &proofs_))
          << text(layout) << text_of_parts(algorithm(), shape) << "\nTEST_SEED=" << seed_;
  }

  uint32_t seed_ = 0;
  std::mt19937 random_;
  uint64_t proofs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Registered, NodesProof, testing::ValuesIn(for_nodes()),
                         [](const auto& info) { return test_name(*info.param); });

const std::vector<std::vector<uint32_t>> kSmall = {{1},    {3},    {1, 1},    {2, 1},    {2, 2},
                                                   {1, 3}, {3, 3}, {3, 1, 4}, {1, 1, 5}, {2, 2, 2, 2}};
const std::vector<std::vector<uint32_t>> kLarge = {{4, 4, 4},    {5, 1, 1, 2}, {8, 8},
                                                   {3, 7, 2, 4}, {6, 6, 6, 6}, {1, 9, 1, 1, 12}};

std::vector<uint32_t> some_roots(const Algorithm& algorithm, uint32_t size) {
  if (!has_root(algorithm)) return {0};
  std::vector<uint32_t> roots;
  for (uint32_t root = 0; root < size; ++root)
    if (size <= 9 || long_tests() || root == 0 || root == size / 2 + 1 || root == size - 1) roots.push_back(root);
  return roots;
}

uint32_t draws_of_parts() {
  if (long_tests()) return 30;
#ifdef HOCKET_SANITIZED
  return 1;
#else
  return 2;
#endif
}

TEST_P(NodesProof, HoldsForSmallNodesOfAnyRanksInAnyOrder) {
  for (const std::vector<uint32_t>& ranks_on : kSmall) {
    for (const Order order : {Order::kBlock, Order::kCyclic, Order::kRandom}) {
      const Layout layout{ranks_on, order, seed_};
      const Nodes nodes = layout.nodes();
      if (!serves(nodes)) continue;
      Shape shape;
      shape.size = nodes.ranks();
      shape.nodes = &nodes;
      for (const uint32_t degree : degrees_to_prove(algorithm())) {
        shape.degree = degree;
        for (const uint32_t root : some_roots(algorithm(), shape.size)) {
          shape.root = root;
          for (const bool keep_order : {false, true}) {
            if (keep_order && !keeps(nodes)) continue;
            shape.keep_order = keep_order;
            const uint32_t draws = algorithm().parts.empty() && !algorithm().segmented ? 1 : draws_of_parts();
            for (uint32_t draw = 0; draw < draws; ++draw) {
              draw_parts(nodes, shape);
              if (algorithm().segmented) shape.segments = 1 + up_to(11);
              shape.first_ranks_lead = has_root(algorithm()) && (draw + root) % 2 != 0;
              ASSERT_NO_FATAL_FAILURE(prove(layout, shape, counts_to_prove(algorithm(), shape)));
              if (!algorithm().takes_vectors) continue;
              draw_parts(nodes, shape, true);
              ASSERT_NO_FATAL_FAILURE(prove_vectors(layout, shape));
            }
          }
        }
      }
    }
  }
  RecordProperty("verifications", std::to_string(proofs_));
  EXPECT_GT(proofs_, kSmall.size());
}

TEST_P(NodesProof, HoldsForLargerNodes) {
  std::vector<std::vector<uint32_t>> layouts = kLarge;
  if (long_tests())
    layouts.insert(layouts.end(), {{16, 16, 16}, {30, 1, 7}, {10, 10, 10, 10, 10, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9}});
  for (const std::vector<uint32_t>& ranks_on : layouts) {
    for (const Order order : {Order::kBlock, Order::kCyclic, Order::kRandom}) {
      const Layout layout{ranks_on, order, seed_};
      const Nodes nodes = layout.nodes();
      if (!serves(nodes)) continue;
      Shape shape;
      shape.size = nodes.ranks();
      shape.nodes = &nodes;
      for (const uint32_t degree : degrees_to_prove(algorithm())) {
        if (!long_tests() && up_to(1) == 0 && degree != 0) continue;
        shape.degree = degree;
        const std::vector<uint32_t> roots = some_roots(algorithm(), shape.size);
        shape.root = roots[up_to(roots.size() - 1)];
        shape.keep_order = keeps(nodes) && up_to(1) == 0;
        draw_parts(nodes, shape);
        if (algorithm().segmented) shape.segments = 1 + up_to(11);
        shape.first_ranks_lead = has_root(algorithm()) && up_to(1) == 0;
        ASSERT_NO_FATAL_FAILURE(prove(layout, shape, {1 + up_to(shape.size + 9)}));
      }
    }
  }
}

// What each part may be, one after the other, beside the others' defaults.
TEST_P(NodesProof, HoldsWithEachPartBeingEveryAlgorithmThatItMayBe) {
  for (const std::vector<uint32_t>& ranks_on : std::vector<std::vector<uint32_t>>{{4, 4, 4}, {2, 5, 1}}) {
    for (const Order order : {Order::kBlock, Order::kRandom}) {
      const Layout layout{ranks_on, order, seed_};
      const Nodes nodes = layout.nodes();
      if (!serves(nodes)) continue;
      for (uint32_t i = 0; i < algorithm().parts.size(); ++i) {
        for (const uint32_t degree : degrees_to_prove(algorithm())) {
          for (const bool keep_order : {false, true}) {
            if (keep_order && !keeps(nodes)) continue;
            for (const Algorithm* part : algorithms_for_part(algorithm(), i, nodes, degree, keep_order)) {
              Shape shape{.size = nodes.ranks(), .degree = degree, .keep_order = keep_order, .nodes = &nodes};
              if (has_root(algorithm())) shape.root = up_to(shape.size - 1);
              shape.parts[i] = {.build = part->build, .degree = 0, .segments = part->segmented ? 9u : 1u};
              ASSERT_NO_FATAL_FAILURE(prove(layout, shape, {1, 13}));
            }
            if (!algorithm().takes_vectors) continue;
            for (const Algorithm* part : algorithms_for_part(algorithm(), i, nodes, degree, keep_order, true)) {
              Shape shape{.size = nodes.ranks(), .degree = degree, .keep_order = keep_order, .nodes = &nodes};
              if (has_root(algorithm())) shape.root = up_to(shape.size - 1);
              shape.parts[i] = {.build = part->build, .degree = 0, .segments = part->segmented ? 9u : 1u};
              ASSERT_NO_FATAL_FAILURE(prove_vectors(layout, shape));
            }
          }
        }
      }
    }
  }
}

// Wrong compositions are found, not trusted.
TEST(NodesDeathTest, PartsAcrossNodesGetNoSlotsAndNoCounters) {
  const Algorithm& leader = *find(schedule::Collective::kAllreduce, "leader");
  const Nodes nodes = Layout{{2, 2}}.nodes();
  Shape shape{.size = 4, .nodes = &nodes};
  shape.parts[1].build = find(schedule::Collective::kAllreduce, "direct")->build;
  EXPECT_DEATH(make_plan(leader, shape), "slot number out of range");
}

TEST(NodesVerification, FindsAlgorithmsThatNeedSharedMemoryRunFlat) {
  const Nodes nodes = Layout{{2, 2}, Order::kCyclic}.nodes();
  for (const Algorithm* algorithm : all()) {
    if (runs_over_nodes(*algorithm) || algorithm->name == "signal") continue;
    const Shape shape{.size = 4, .nodes = &nodes};
    const schedule::VerifyOptions options{.count = combines(*algorithm) ? 3u : 4u, .idempotent = true};
    EXPECT_FALSE(schedule::verify(plans_of(*algorithm, shape), options).is_correct()) << test_name(*algorithm);
  }
}

TEST(NodesVerification, FindsAnOrderThatIsLostWhereNodesAreNotInBlocks) {
  const Nodes nodes = Layout{{2, 2}, Order::kCyclic}.nodes();
  const Shape shape{.size = 4, .keep_order = true, .nodes = &nodes};
  const Algorithm& leader = *find(schedule::Collective::kAllreduce, "leader");
  EXPECT_FALSE(schedule::verify(plans_of(leader, shape), {.count = 3, .commutative = false}).is_correct());
}

}  // namespace
}  // namespace hocket::algorithms
