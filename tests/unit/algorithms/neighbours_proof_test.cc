// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of a collective among neighbours, proved by the verifier on grids, stencils and random graphs, on one
// node and on several.
#include <algorithm>
#include <iostream>
#include <optional>
#include <random>

#include "neighbour_graphs.h"
#include "proving.h"

namespace hocket::algorithms {
namespace {

using schedule::Neighbours;
using schedule::Nodes;
using schedule::Plan;
using schedule::Shape;
using schedule::StepKind;

// Of a dimension. What sanitizers look for shows on shorter ones.
uint32_t longest() {
#ifdef HOCKET_SANITIZED
  if (!long_tests()) return 2;
#endif
  return long_tests() ? 4 : 3;
}

class NeighboursProof : public testing::TestWithParam<const Algorithm*> {
 protected:
  const Algorithm& algorithm() const { return *GetParam(); }

  std::vector<Plan> plans(const Neighbours& neighbours, const Nodes* nodes, bool varies) const {
    Shape shape;
    shape.size = neighbours.ranks();
    shape.neighbours = &neighbours;
    shape.nodes = nodes;
    shape.varies = varies;
    return plans_of(algorithm(), shape);
  }
  bool serves(const Neighbours& neighbours, const Nodes* nodes) const {
    return algorithm().why_not_among == nullptr || algorithm().why_not_among(neighbours, nodes).empty();
  }
  void prove(const Graph& graph, const Nodes* nodes);

  const uint32_t seed_ = seed_of_run();
  std::mt19937 random_{seed_};
  uint64_t proofs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Registered, NeighboursProof,
                         testing::ValuesIn(all_among_neighbors().begin(), all_among_neighbors().end()),
                         [](const auto& info) { return test_name(*info.param); });

void NeighboursProof::prove(const Graph& graph, const Nodes* nodes) {
  const Neighbours& neighbours = *graph.neighbours;
  if (!serves(neighbours, nodes)) return;
  for (const uint64_t count : {0, 1, 3}) {
    const schedule::Report report = verify(plans(neighbours, nodes, false), {.count = count});
    ASSERT_TRUE(report.is_correct()) << graph.name << ", count " << count << "\n" << report.text();
    ++proofs_;
  }
  if (!algorithm().takes_vectors) return;
  const bool is_one = algorithm().collective == schedule::Collective::kNeighborAllgather;
  std::vector<uint64_t> lengths(is_one ? neighbours.ranks() : neighbours.blocks());
  for (uint64_t& length : lengths) length = std::uniform_int_distribution<uint64_t>(0, 4)(random_);
  if (lengths.empty()) return;
  const schedule::Report report = verify(plans(neighbours, nodes, true), {.lengths = lengths});
  ASSERT_TRUE(report.is_correct()) << graph.name << ", lengths that differ\n" << report.text();
  ++proofs_;
}

// A rank can lay out its rows: it gives or gets the blocks in them, or is told their lengths.
void every_length_is_known(const Algorithm& algorithm, const Graph& graph, const std::vector<Plan>& plans) {
  const Neighbours& neighbours = *graph.neighbours;
  const LengthsTold told = algorithm.tells_lengths == nullptr ? LengthsTold{} : algorithm.tells_lengths(neighbours);
  for (const Plan& plan : plans) {
    const uint32_t rank = plan.shape.rank;
    std::vector<uint64_t> known;
    for (uint32_t k = 0; k < neighbours.destinations(rank).size(); ++k) known.push_back(neighbours.number_out(rank, k));
    for (uint32_t k = 0; k < neighbours.sources(rank).size(); ++k)
      if (neighbours.sources(rank)[k] != schedule::kNoRank) known.push_back(neighbours.number_in(rank, k));
    for (uint32_t k = 0; told.among != nullptr && k < told.among->sources(rank).size(); ++k)
      if (const uint32_t source = told.among->sources(rank)[k]; source != schedule::kNoRank)
        known.push_back(neighbours.number_out(source, told.of[told.among->origins(rank)[k]]));
    std::sort(known.begin(), known.end());
    for (const auto& row : plan.rows)
      for (size_t i = 0; row != nullptr && i < row->size(); ++i)
        ASSERT_TRUE(std::binary_search(known.begin(), known.end(), (*row)[i]))
            << graph.name << ": rank " << rank << " has block " << (*row)[i] << " in a row";
  }
}

// Some ranks together, in no order.
Nodes random_nodes(uint32_t ranks, std::mt19937& random) {
  std::vector<uint64_t> labels(ranks);
  const uint32_t nodes = 1 + std::uniform_int_distribution<uint32_t>(0, std::min(ranks, 5u) - 1)(random);
  for (uint64_t& label : labels) label = std::uniform_int_distribution<uint32_t>(0, nodes - 1)(random);
  return Nodes(labels);
}

TEST_P(NeighboursProof, HoldsOnGrids) {
  for (const Graph& graph : small_grids(longest())) {
    ASSERT_NO_FATAL_FAILURE(prove(graph, nullptr));
    const Nodes nodes = random_nodes(graph.neighbours->ranks(), random_);
    ASSERT_NO_FATAL_FAILURE(prove(graph, &nodes)) << "TEST_SEED=" << seed_;
  }
  EXPECT_GT(proofs_, 0u);
}

TEST_P(NeighboursProof, HoldsOnStencils) {
  std::cout << "TEST_SEED=" << seed_ << "\n";
  for (const Graph& graph : small_stencils(longest(), random_)) {
    ASSERT_NO_FATAL_FAILURE(prove(graph, nullptr));
    const Nodes nodes = random_nodes(graph.neighbours->ranks(), random_);
    ASSERT_NO_FATAL_FAILURE(prove(graph, &nodes));
  }
  EXPECT_GT(proofs_, 0u);
}

TEST_P(NeighboursProof, KnowsTheLengthsInItsRows) {
  std::cout << "TEST_SEED=" << seed_ << "\n";
  const bool is_alltoall = algorithm().collective == schedule::Collective::kNeighborAlltoall;
  if (!algorithm().takes_vectors || !is_alltoall) GTEST_SKIP() << "it has no rows";
  std::vector<Graph> graphs = small_stencils(longest(), random_);
  for (Graph& graph : lists_of_tori(longest(), random_)) graphs.push_back(std::move(graph));
  for (const Graph& graph : graphs) {
    if (!serves(*graph.neighbours, nullptr)) continue;
    ASSERT_NO_FATAL_FAILURE(every_length_is_known(algorithm(), graph, plans(*graph.neighbours, nullptr, true)));
  }
}

TEST_P(NeighboursProof, HoldsOnListsOfTori) {
  std::cout << "TEST_SEED=" << seed_ << "\n";
  for (const Graph& graph : lists_of_tori(longest() + 1, random_)) {
    ASSERT_NO_FATAL_FAILURE(prove(graph, nullptr));
    const Nodes nodes = random_nodes(graph.neighbours->ranks(), random_);
    ASSERT_NO_FATAL_FAILURE(prove(graph, &nodes));
  }
  EXPECT_GT(proofs_, 0u);
}

TEST_P(NeighboursProof, HoldsOnRandomGraphs) {
  std::cout << "TEST_SEED=" << seed_ << "\n";
  for (int i = 0; i < (long_tests() ? 2000 : 200); ++i) {
    const Graph graph = random_graph(i % 10 == 0 ? 64 : 9, random_);
    ASSERT_NO_FATAL_FAILURE(prove(graph, nullptr));
    const Nodes nodes = random_nodes(graph.neighbours->ranks(), random_);
    ASSERT_NO_FATAL_FAILURE(prove(graph, &nodes));
  }
}

// What the heads of the files claim, for all 26 neighbours of a point on a torus of 4 x 4 x 4.
TEST(NeighboursFacts, AreAsClaimed) {
  std::vector<int32_t> offsets;
  for (int32_t i = 0; i < 27; ++i)
    if (i != 13) offsets.insert(offsets.end(), {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1});
  const auto torus = Neighbours::of_stencil({4, 4, 4}, {true, true, true}, offsets, 64).take();
  Shape shape;
  shape.size = 64;
  shape.neighbours = torus.get();
  const auto report_of = [&](schedule::Collective collective, const char* name) {
    return verify(plans_of(*find(collective, name), shape), {.count = 1});
  };
  const auto alltoall = schedule::Collective::kNeighborAlltoall;
  const auto allgather = schedule::Collective::kNeighborAllgather;
  EXPECT_EQ(report_of(alltoall, "linear").messages, 64u * 26);
  EXPECT_EQ(report_of(alltoall, "linear").elements_moved, 64u * 26);
  EXPECT_EQ(report_of(alltoall, "direct").messages, 64u * 26);
  // 6 neighbours along one dimension, 12 along two, 8 along three.
  EXPECT_EQ(report_of(alltoall, "dimensions").messages, 64u * 6);
  EXPECT_EQ(report_of(alltoall, "dimensions").elements_moved, 64u * (6 + 2 * 12 + 3 * 8));
  EXPECT_EQ(report_of(allgather, "linear").messages, 64u * 26);
  EXPECT_EQ(report_of(allgather, "dimensions").messages, 64u * 6);
  EXPECT_EQ(report_of(allgather, "dimensions").elements_moved, 64u * 26);
}

TEST(NeighboursFacts, OfPairsWithSeveralBlocks) {
  const auto ring = Neighbours::of_grid({2}, {true}, 2).take();
  Shape shape;
  shape.size = 2;
  shape.neighbours = ring.get();
  const Algorithm& joined = *find(schedule::Collective::kNeighborAlltoall, "joined");
  EXPECT_EQ(verify(plans_of(joined, shape), {.count = 1}).messages, 2u);
  const auto longer = Neighbours::of_grid({3}, {true}, 3).take();
  EXPECT_EQ(joined.why_not_among(*longer, nullptr), "no rank has several blocks for another one");
}

// What goes down a grid comes from above; the proof must know, or it would prove nothing where both are one rank.
TEST(NeighboursProofItself, FindsBlocksThatAreExchanged) {
  const auto grid = Neighbours::of_grid({2}, {true}, 2).take();
  const Algorithm& linear = *find(schedule::Collective::kNeighborAlltoall, "linear");
  Shape shape;
  shape.size = 2;
  shape.neighbours = grid.get();
  std::vector<Plan> plans = plans_of(linear, shape);
  ASSERT_TRUE(verify(plans, {.count = 2}).is_correct());
  std::vector<schedule::Step>& steps = plans[1].steps;
  const auto is_receive = [](const schedule::Step& step) { return step.kind == StepKind::kReceive; };
  const auto first = std::find_if(steps.begin(), steps.end(), is_receive);
  const auto second = std::find_if(first + 1, steps.end(), is_receive);
  ASSERT_NE(second, steps.end());
  std::swap(first->destination, second->destination);
  EXPECT_FALSE(verify(plans, {.count = 2}).is_correct());
}

TEST(NeighboursProofItself, FindsWhatIsWrittenBeyondAnEdge) {
  const auto grid = Neighbours::of_grid({2}, {false}, 2).take();
  Shape shape;
  shape.size = 2;
  shape.neighbours = grid.get();
  std::vector<Plan> plans = plans_of(*find(schedule::Collective::kNeighborAlltoall, "linear"), shape);
  ASSERT_TRUE(verify(plans, {.count = 2}).is_correct());
  schedule::Step copy;
  copy.source = schedule::Slice{.buffer = schedule::Buffer::kInput, .blocks = 2, .last = 1, .of = 2};
  copy.destination = copy.source;
  copy.destination.buffer = schedule::Buffer::kOutput;
  plans[0].steps.push_back(copy);
  EXPECT_FALSE(verify(plans, {.count = 2}).is_correct());
}

}  // namespace
}  // namespace hocket::algorithms
