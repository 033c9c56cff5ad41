// SPDX-License-Identifier: BSD-3-Clause
// Calls of ranks on several nodes: compositions in words, what may run there, the conditions of rules.
#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/facts.h"
#include "selection/choice.h"
#include "selection/cost_model.h"
#include "selection/parsed_table.h"

namespace hocket::selection {
namespace {

using schedule::Collective;
using schedule::Nodes;

Nodes cyclic_nodes(uint32_t nodes, uint32_t ranks_a_node) {
  std::vector<uint64_t> labels;
  for (uint32_t rank = 0; rank < nodes * ranks_a_node; ++rank) labels.push_back(rank % nodes);
  return Nodes(labels);
}

Query query_of(const Nodes& nodes, Collective collective, uint64_t bytes) {
  return {.collective = collective, .bytes = bytes, .ranks = nodes.ranks(), .nodes = &nodes, .element_bytes = 8};
}

Spec parsed_spec(Collective collective, const std::string& text) {
  Result<Spec> spec = parse_spec(collective, text);
  EXPECT_TRUE(spec.is_ok()) << spec.status().message();
  return spec.take();
}

std::string error_of(Collective collective, const std::string& text) {
  Result<Spec> spec = parse_spec(collective, text);
  return spec.is_ok() ? "" : spec.status().message();
}

TEST(CompositionSpec, NamesPartsWithTheirDegreesAndIsWrittenBack) {
  for (const char* text : {"leader", "leader:node=tree/3", "leader:node=tree/flat,across=ring,spread=one_to_all/4",
                           "leader:across=recursive_doubling"})
    EXPECT_EQ(to_text(parsed_spec(Collective::kAllreduce, text)), text);
  const Spec spec = parsed_spec(Collective::kAllreduce, "leader:spread=tree/2,node=pieces");
  EXPECT_EQ(spec.parts[0].algorithm->name, "pieces");
  EXPECT_EQ(spec.parts[1].algorithm, nullptr);
  EXPECT_EQ(spec.parts[2].degree, 2u);
  EXPECT_EQ(to_text(spec), "leader:node=pieces,spread=tree/2");
}

TEST(CompositionSpec, SaysWhatIsKnownWhereItIsRefused) {
  const auto refused = [](const char* text, const char* because) {
    const std::string error = error_of(Collective::kAllreduce, text);
    EXPECT_NE(error.find(because), std::string::npos) << text << ": " << error;
  };
  refused("leader:nodes=tree", "there are node=ALGORITHM[/DEGREE], across=ALGORITHM[/DEGREE], spread=");
  refused("leader:node=rign", "no algorithm `rign` for reduce; there are: tree, ");
  refused("leader:across=leader", "leader is made of parts itself");
  refused("leader:across=rign", "reduce_broadcast");
  refused("leader:node=tree,node=tree", "node is given twice");
  refused("leader:node=tree/0", "tree/0");
  refused("leader:node=tree/", "tree/");
  refused("leader:node=", "``");
  refused("leader:across=ring/2", "ring has no degree");
  refused("ring:node=tree", "not a parameter of ring: it has none");
  EXPECT_EQ(error_of(Collective::kAllreduce, "leader:across=leader").find("there are: leader"), std::string::npos);
}

TEST(Spec, CallsTheDegreeByTheAlgorithmsOwnWordForIt) {
  EXPECT_EQ(to_text(parsed_spec(Collective::kAlltoall, "linear:window=4")), "linear:window=4");
  EXPECT_EQ(to_text(parsed_spec(Collective::kAlltoall, "linear:degree=4")), "linear:window=4");
  EXPECT_EQ(to_text(parsed_spec(Collective::kAlltoall, "linear:window=all")), "linear:window=all");
  EXPECT_NE(error_of(Collective::kAlltoall, "linear:window=0").find("window=0: it is a number from 1, or `all`"),
            std::string::npos);
  EXPECT_NE(error_of(Collective::kAlltoall, "linear:lanes=2").find("there are window=NUMBER|all"), std::string::npos);
  EXPECT_NE(error_of(Collective::kAlltoall, "linear:window=2,degree=2").find("twice"), std::string::npos);
}

TEST(ChoiceOverNodes, RefusesWhatNeedsMemoryThatAllRanksShare) {
  const Nodes nodes = Nodes::in_blocks({2, 2});
  for (const algorithms::Algorithm* algorithm : algorithms::all()) {
    if (algorithms::facts_of(*algorithm).multicasts) continue;  // below
    const Query query = query_of(nodes, algorithm->collective, 64);
    const std::string why = why_not(query, Spec{algorithm});
    EXPECT_EQ(why.empty(), algorithms::runs_over_nodes(*algorithm)) << algorithm->name << ": " << why;
    if (!why.empty()) {
      EXPECT_EQ(why, "it needs memory that all ranks share, and they are on 2 nodes");
    }
  }
  const Spec direct = parsed_spec(Collective::kAllreduce, "direct");
  EXPECT_FALSE(choose(query_of(nodes, Collective::kAllreduce, 8), Table::shipped(), &direct).is_ok());
}

TEST(ChoiceOverNodes, MulticastIsForOneRankANodeAndWhereItGetsThrough) {
  const Spec flat = parsed_spec(Collective::kBroadcast, "multicast");
  const Spec composed = parsed_spec(Collective::kBroadcast, "leader:across=multicast");
  const Nodes pairs = Nodes::in_blocks({2, 2});
  const Nodes single = Nodes::in_blocks({1, 1, 1});
  Query query = query_of(pairs, Collective::kBroadcast, 64);
  query.why_no_multicast = "a firewall";
  EXPECT_NE(why_not(query, flat).find("leader:across=multicast"), std::string::npos);
  EXPECT_NE(why_not(query, composed).find("a firewall"), std::string::npos);
  query.why_no_multicast = "";
  EXPECT_NE(why_not(query, flat).find("leader:across=multicast"), std::string::npos);
  EXPECT_EQ(why_not(query, composed), "");
  query = query_of(single, Collective::kBroadcast, 64);
  EXPECT_NE(why_not(query, flat), "");  // nobody has tried
  query.why_no_multicast = "";
  EXPECT_EQ(why_not(query, flat), "");
  // Lanes carry a part of the message each.
  EXPECT_NE(why_not(query_of(pairs, Collective::kBroadcast, 64),
                    parsed_spec(Collective::kBroadcast, "lanes:across=multicast")),
            "");
}

TEST(ChoiceOverNodes, AsManyBlocksAreMulticastAtATimeAsSocketsHaveRoomFor) {
  const Nodes single = Nodes::in_blocks(std::vector<uint32_t>(64, 1));
  const auto chains = [&](const char* text, uint64_t bytes) {
    Query query = query_of(single, Collective::kAllgather, bytes);
    query.why_no_multicast = "";
    const Spec spec = parsed_spec(Collective::kAllgather, text);
    return choose(query, Table::shipped(), &spec).value().degree;
  };
  EXPECT_EQ(chains("multicast", 8), 64u);
  EXPECT_EQ(chains("multicast", 2048), 64u);
  EXPECT_EQ(chains("multicast", 8192), 16u);
  EXPECT_EQ(chains("multicast", 1 << 20), 4u);
  EXPECT_EQ(chains("multicast:chains=2", 8), 2u);
  EXPECT_EQ(chains("multicast:chains=all", 1 << 20), 63u);  // which leaves nobody to wait
}

TEST(ChoiceOverNodes, AnAllgatherOfLeadersMayGoByMulticast) {
  const Nodes pairs = Nodes::in_blocks({2, 2});
  Query query = query_of(pairs, Collective::kAllgather, 64);
  query.why_no_multicast = "";
  EXPECT_EQ(why_not(query, parsed_spec(Collective::kAllgather, "leader:across=multicast")), "");
  EXPECT_NE(why_not(query, parsed_spec(Collective::kAllgather, "lanes:across=multicast")), "");
  EXPECT_NE(why_not(query, parsed_spec(Collective::kAllgather, "multicast")).find("leader:across=multicast"),
            std::string::npos);
}

TEST(ChoiceOverNodes, TheModelLeavesMulticastToRules) {
  const Nodes single = Nodes::in_blocks({1, 1, 1, 1, 1, 1, 1, 1});
  Query query = query_of(single, Collective::kBroadcast, 64);
  query.why_no_multicast = "";
  for (const Prediction& one : predict(query, Table::shipped()))
    EXPECT_FALSE(algorithms::facts_of(*one.spec.algorithm).multicasts);
  const auto ruled = Table::parse("hocket-table 1\nbroadcast nodes=8.. multicast\n", "test");
  ASSERT_TRUE(ruled.is_ok()) << ruled.status().message();
  const Result<Choice> choice = choose(query, ruled.value());
  ASSERT_TRUE(choice.is_ok());
  EXPECT_EQ(choice.value().algorithm->name, "multicast");
  query.why_no_multicast = "a firewall";
  const Result<Choice> other = choose(query, ruled.value());
  ASSERT_TRUE(other.is_ok());
  EXPECT_NE(other.value().algorithm->name, "multicast");
}

TEST(ChoiceOverNodes, EveryCollectiveHasAnAlgorithmForAnyNodes) {
  for (const Nodes& nodes :
       {Nodes::in_blocks({2, 2}), Nodes::in_blocks({1, 1, 1}), Nodes::in_blocks({3, 1, 4}), cyclic_nodes(3, 4)})
    for (int i = 0; i < schedule::kCollectives; ++i)
      for (const uint64_t bytes : {8ull, 4096ull, 1ull << 20, 1ull << 27})
        for (const bool commutative : {true, false}) {
          Query query = query_of(nodes, static_cast<Collective>(i), bytes);
          query.commutative = commutative;
          if (!schedule::lengths_are_agreed(query.collective)) query.bytes = 0;
          const Result<Choice> choice = choose(query, Table::shipped());
          ASSERT_TRUE(choice.is_ok()) << choice.status().message();
          EXPECT_TRUE(algorithms::runs_over_nodes(*choice.value().algorithm));
        }
}

TEST(ChoiceOverNodes, ChoosesPartsThatAreNotNamedByTheirOwnCalls) {
  const Table table = parsed_table(
      "reduce ranks=3..4 bytes=..4K tree:degree=flat\n"
      "allreduce nodes=2 ppn=1 ring\n"
      "broadcast one_to_all\n");
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const Query query = query_of(nodes, Collective::kAllreduce, 4096);
  const Spec forced = parsed_spec(Collective::kAllreduce, "leader:spread=tree/2");
  const Result<Choice> choice = choose(query, table, &forced);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  const PartChoice* parts = choice.value().parts;
  EXPECT_EQ(parts[0].algorithm->name, "tree");
  EXPECT_EQ(parts[0].degree, 3u);
  EXPECT_EQ(parts[0].reason, "test, line 2");
  EXPECT_EQ(parts[1].algorithm->name, "ring");
  EXPECT_EQ(parts[1].reason, "test, line 3");
  EXPECT_EQ(parts[2].algorithm->name, "tree");
  EXPECT_EQ(parts[2].degree, 2u);
  EXPECT_EQ(parts[2].reason, "forced");
  schedule::Shape shape;
  choice.value().fill(shape);
  EXPECT_EQ(shape.parts[1].build, parts[1].algorithm->build);
  EXPECT_EQ(shape.parts[2].degree, 2u);
}

TEST(ChoiceOverNodes, CutsPartsIntoSegmentsThatFitIntoASlotAndNeverIntoCalls) {
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const Spec pieces = parsed_spec(Collective::kAllreduce, "leader:node=tree,spread=one_to_all");
  Query query = query_of(nodes, Collective::kAllreduce, 1 << 20);
  const Result<Choice> choice = choose(query, Table(), &pieces);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  EXPECT_EQ(choice.value().calls, 1u);
  EXPECT_EQ(choice.value().segments, 1u);
  for (const int part : {0, 2}) EXPECT_GT((uint64_t{64} << 10) * choice.value().parts[part].segments, 1u << 20);
  query.bytes = 64 << 20;
  const std::string why = why_not(query, pieces);
  EXPECT_NE(why.find("node=tree: 64M bytes are too long for one call, and parts are not cut"), std::string::npos)
      << why;
  // Whoever doesn't name them gets others.
  const Spec free = parsed_spec(Collective::kAllreduce, "leader");
  EXPECT_TRUE(choose(query, Table::shipped(), &free).is_ok());
}

TEST(ChoiceOverNodes, PartsAreRefusedWithTheirReason) {
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const auto why = [&](const char* spec) {
    return why_not(query_of(nodes, Collective::kAllreduce, 64), parsed_spec(Collective::kAllreduce, spec));
  };
  EXPECT_EQ(why("leader:node=pieces"), "node=pieces: it takes 16 slots, and 8 are left to it");
  EXPECT_EQ(why("leader:across=direct"),
            "across=direct: it needs memory that all ranks share, and they are on 2 nodes");
  EXPECT_EQ(
      why("leader:spread=root_copies"),
      "spread=root_copies: it lets peers write where they may still be reading what an earlier part has published");
  EXPECT_EQ(why("leader:node=tree,across=ring,spread=pieces"), "");
}

TEST(ChoiceOverNodes, KeepsTheOrderOfOperandsOnlyWhereNodesHoldNeighbours) {
  const Nodes blocks = Nodes::in_blocks({3, 1, 4});
  const Nodes cyclic = cyclic_nodes(2, 4);
  const Spec leader = parsed_spec(Collective::kAllreduce, "leader");
  Query query = query_of(blocks, Collective::kAllreduce, 64);
  query.commutative = false;
  EXPECT_EQ(why_not(query, leader), "");
  const Result<Choice> choice = choose(query, Table::shipped(), &leader);
  ASSERT_TRUE(choice.is_ok());
  for (const PartChoice& part : choice.value().parts) {
    if (part.algorithm != nullptr && schedule::combines(part.algorithm->collective)) {
      EXPECT_TRUE(part.algorithm->can_keep_order) << part.algorithm->name;
    }
  }
  query.nodes = &cyclic;
  EXPECT_NE(why_not(query, leader).find("not neighbours"), std::string::npos);
  query.commutative = true;
  EXPECT_EQ(why_not(query, leader), "");
}

// On one node compositions go over its domains, which may hold ranks in any order just as well.
TEST(ChoiceOverNodes, KeepsTheOrderOfOperandsOnlyWhereDomainsHoldNeighbours) {
  const Nodes blocks = Nodes::in_blocks({4, 4});
  const Nodes cyclic = cyclic_nodes(2, 4);
  const Spec leader = parsed_spec(Collective::kAllreduce, "leader");
  Query query{.collective = Collective::kAllreduce, .bytes = 64, .ranks = 8, .domains = &blocks, .commutative = false};
  EXPECT_EQ(why_not(query, leader), "");
  query.domains = &cyclic;
  EXPECT_NE(why_not(query, leader).find("NUMA domains first, whose ranks are not neighbours"), std::string::npos);
  EXPECT_FALSE(choose(query, Table::shipped(), &leader).is_ok());
  query.commutative = true;
  EXPECT_EQ(why_not(query, leader), "");
}

// Shared counters are those of all ranks of a node.
TEST(ChoiceOverNodes, RanksOfADomainDoNotCountTogetherWithThoseOfOthers) {
  const Nodes domains = Nodes::in_blocks({2, 2});
  const Query query{.collective = Collective::kBarrier, .ranks = 4, .domains = &domains, .oversubscribed = true};
  const Table table = parsed_table("barrier crowded signal\n");
  const Spec leader = parsed_spec(Collective::kBarrier, "leader");
  const Result<Choice> choice = choose(query, table, &leader);
  ASSERT_TRUE(choice.is_ok()) << choice.status().message();
  for (const PartChoice& part : choice.value().parts)
    EXPECT_TRUE(part.algorithm == nullptr || !algorithms::facts_of(*part.algorithm).shares_counters)
        << part.algorithm->name;
  const Spec signal = parsed_spec(Collective::kBarrier, "leader:node=signal");
  EXPECT_NE(why_not(query, signal).find("NUMA domains have only some of them"), std::string::npos);
  const Query on_nodes{.collective = Collective::kBarrier, .ranks = 4, .nodes = &domains, .oversubscribed = true};
  EXPECT_EQ(why_not(on_nodes, signal), "");
}

TEST(ChoiceOverNodes, CompositionsCanBeForcedOnOneNodeButAreNotTriedThere) {
  const Spec leader = parsed_spec(Collective::kAllreduce, "leader");
  const Query query{.collective = Collective::kAllreduce, .bytes = 64, .ranks = 4, .element_bytes = 8};
  EXPECT_EQ(why_not(query, leader), "");
  for (const Prediction& one : predict(query, Table::shipped())) EXPECT_TRUE(one.spec.algorithm->parts.empty());
  const Nodes single = Nodes::in_blocks({1, 1, 1, 1});
  for (const Prediction& one : predict(query_of(single, Collective::kAllreduce, 64), Table::shipped()))
    EXPECT_TRUE(one.spec.algorithm->parts.empty());
}

TEST(TableOverNodes, RulesAreForOneNodeUnlessTheySayOtherwise) {
  const Table table = parsed_table(
      "allreduce recursive_doubling\n"
      "allreduce nodes=2..4 ppn=..4 ring\n"
      "allreduce nodes=2.. reduce_scatter_allgather\n");
  const auto chosen = [&](const Nodes& nodes) {
    return std::string(choose(query_of(nodes, Collective::kAllreduce, 64), table).value().algorithm->name);
  };
  EXPECT_EQ(chosen(Nodes::in_blocks({4})), "recursive_doubling");
  EXPECT_EQ(chosen(Nodes::in_blocks({4, 4})), "ring");
  EXPECT_EQ(chosen(Nodes::in_blocks({4, 1})), "ring");
  EXPECT_EQ(chosen(Nodes::in_blocks({5, 1})), "reduce_scatter_allgather");
  EXPECT_EQ(chosen(Nodes::in_blocks({1, 1, 1, 1, 1})), "reduce_scatter_allgather");
}

TEST(TableOverNodes, RulesOfAWireHoldForThatAlone) {
  const Table table = parsed_table(
      "allreduce nodes=2.. wire=mpich ring\n"
      "allreduce nodes=2.. wire=my-net_2 leader\n"
      "allreduce nodes=2.. recursive_doubling\n");
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const auto chosen = [&](const Table& by) {
    return std::string(choose(query_of(nodes, Collective::kAllreduce, 64), by).value().algorithm->name);
  };
  EXPECT_EQ(chosen(table.under("mpich")), "ring");
  EXPECT_EQ(chosen(table.under("my-net_2")), "leader");
  EXPECT_EQ(chosen(table.under("intel")), "recursive_doubling");
  EXPECT_EQ(chosen(table), "recursive_doubling") << "of which nobody has said what joins the nodes";
  EXPECT_NE(explain(query_of(nodes, Collective::kAllreduce, 64), table.under("mpich"), nullptr).find("wire=mpich ring"),
            std::string::npos);
}

// The parts' algorithms come from other rules.
TEST(TableOverNodes, PredictionsUnderOneWireAreNotTakenForAnothers) {
  const Table table = parsed_table("allreduce nodes=2.. ppn=1 wire=a ring\nallreduce nodes=2.. ppn=1 wire=b linear\n");
  const Nodes nodes = Nodes::in_blocks({4, 4, 4});
  const Query query = query_of(nodes, Collective::kAllreduce, 64);
  const auto us_of_leader = [&](const Table& by) {
    for (const Prediction& one : predict(query, by))
      if (one.spec.algorithm->name == "leader") return one.us;
    return 0.0;
  };
  EXPECT_GT(us_of_leader(table.under("a")), us_of_leader(table.under("b"))) << "two rounds, and one";
}

TEST(TableOverNodes, ConditionsOnNodesAreWrittenBack) {
  const Table table = parsed_table(
      "allreduce nodes=2..4 ppn=..4 ring\n"
      "allreduce ranks=5.. nodes=.. leader:across=ring\n"
      "allreduce nodes=1 ring\n"
      "allreduce nodes=2 wire=intel ring\n");
  EXPECT_EQ(to_text(table.rules()[0]), "allreduce nodes=2..4 ppn=..4 ring");
  EXPECT_EQ(to_text(table.rules()[1]), "allreduce ranks=5.. nodes=.. leader:across=ring");
  EXPECT_EQ(to_text(table.rules()[2]), "allreduce ring");
  EXPECT_EQ(to_text(table.rules()[3]), "allreduce nodes=2 wire=intel ring");
  const auto error = [](const std::string& line) {
    Result<Table> parsed = Table::parse("hocket-table 1\n" + line + "\n", "t");
    return parsed.is_ok() ? "" : std::string(parsed.status().message());
  };
  EXPECT_NE(error("allreduce nodes=2 nodes=3 ring").find("nodes= is given twice"), std::string::npos);
  EXPECT_NE(error("allreduce wire=a wire=b ring").find("wire= is given twice"), std::string::npos);
  EXPECT_NE(error("allreduce wire=Intel ring").find("no wire's name"), std::string::npos);
  EXPECT_NE(error("allreduce wire= ring").find("no wire's name"), std::string::npos);
  EXPECT_NE(error("allreduce ppn=3..2 ring").find("empty"), std::string::npos);
}

TEST(ExplainOverNodes, SaysTheNodesThePartsAndTheirGrounds) {
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const Table table = parsed_table("allreduce nodes=2.. leader:across=ring\nreduce tree\n");
  const std::string text = explain(query_of(nodes, Collective::kAllreduce, 64), table);
  const auto says = [&](const char* what) { EXPECT_NE(text.find(what), std::string::npos) << what << "\n" << text; };
  says("allreduce of 64 bytes on 8 ranks, on 2 nodes of 4 ranks, a core for every rank\n");
  says("  runs      leader:across=ring: ");
  says("  part      node: reduce of 64 bytes on 4 ranks of a node: tree (test, line 3)\n");
  says("  part      across: allreduce of 64 bytes on 2 ranks, one a node: ring (as named)\n");
  says("  part      spread: broadcast of 64 bytes on 4 ranks of a node: ");
  says("  because   test, line 2: allreduce nodes=2.. leader:across=ring\n");
  says("  not       direct: it needs memory that all ranks share, and they are on 2 nodes\n");
  const std::string uneven = explain(query_of(Nodes::in_blocks({3, 1}), Collective::kAllreduce, 64), table);
  EXPECT_NE(uneven.find("on 2 nodes of 1 to 3 ranks"), std::string::npos) << uneven;
  const std::string cyclic = explain(query_of(cyclic_nodes(2, 2), Collective::kAllreduce, 64), table);
  EXPECT_NE(cyclic.find("on 2 nodes of 2 ranks that are not neighbours"), std::string::npos) << cyclic;
}

TEST(ExplainOverNodes, SaysWhatDependsOnLengthsThatNoRankSees) {
  const Nodes nodes = Nodes::in_blocks({4, 4});
  const Table table = parsed_table("alltoallv nodes=2.. leader\ngatherv nodes=2.. leader\n");
  const auto has = [&](Collective collective, const Spec* forced, const char* what) {
    return explain(query_of(nodes, collective, 0), table, forced).find(what) != std::string::npos;
  };
  EXPECT_TRUE(has(Collective::kAlltoallv, nullptr, "long      blocks of more than 2048 bytes go by themselves"));
  EXPECT_TRUE(has(Collective::kAlltoallv, nullptr, "few       linear, up to 2 messages to other nodes"));
  EXPECT_TRUE(has(Collective::kGatherv, nullptr, "long      blocks of more than 512 bytes"));
  EXPECT_FALSE(has(Collective::kGatherv, nullptr, "few  "));
  const Spec leader = parsed_spec(Collective::kAlltoallv, "leader");
  EXPECT_FALSE(has(Collective::kAlltoallv, &leader, "few  "));
  const Spec linear = parsed_spec(Collective::kAlltoallv, "linear");
  EXPECT_FALSE(has(Collective::kAlltoallv, &linear, "long  "));
}

}  // namespace
}  // namespace hocket::selection
