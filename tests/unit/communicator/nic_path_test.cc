// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/nic_path.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"

namespace hocket::communicator {
namespace {

using schedule::Nodes;
using schedule::StepKind;

Nodes nodes_of(uint32_t nodes, uint32_t ranks_a_node) {
  std::vector<uint64_t> labels;
  for (uint32_t rank = 0; rank < nodes * ranks_a_node; ++rank) labels.push_back(rank / ranks_a_node);
  return Nodes(labels);
}

std::vector<NicPath::Offer> offers_of(uint32_t ranks) {
  std::vector<NicPath::Offer> offers(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    offers[rank].ip = rank + 1;
    offers[rank].port = 1;
  }
  return offers;
}

// Of a barrier that is forced.
selection::Choice choice_of(const Nodes& nodes, const std::string& spec) {
  selection::Query query;
  query.ranks = nodes.ranks();
  query.nodes = &nodes;
  const Result<selection::Spec> forced = selection::parse_spec(query.collective, spec);
  return selection::choose(query, selection::Table::shipped(), &forced.value()).value();
}

struct Steps {
  size_t triggers = 0;
  size_t messages_out = 0;
  uint32_t program = 0;
};

// Of the rank's barrier by `spec`, with engines on all nodes.
Steps steps_of(const Nodes& nodes, uint32_t rank, const std::string& spec) {
  const selection::Choice choice = choice_of(nodes, spec);
  std::string why_not;
  const std::unique_ptr<NicPath> path = NicPath::find(offers_of(nodes.ranks()), nodes, rank, why_not);
  EXPECT_NE(path, nullptr) << why_not;
  EXPECT_EQ(path->hold_programs(&choice), "");
  schedule::Shape shape;
  choice.fill(shape);
  shape.size = nodes.ranks();
  shape.rank = rank;
  shape.nodes = &nodes;
  engines::Program program = engines::bind(algorithms::make_plan(*choice.algorithm, shape), 0, 1);
  path->offload(choice, program);
  Steps steps;
  for (const engines::Instruction& step : program.instructions) {
    if (step.kind == StepKind::kTrigger) {
      ++steps.triggers;
      steps.program = step.value;
    } else if (step.by_wire) {
      ++steps.messages_out;
    }
  }
  return steps;
}

TEST(NicPath, MessagesBetweenNodesBecomeOneStepOfEachLeader) {
  for (const uint32_t ranks_a_node : {1u, 3u}) {
    for (const uint32_t count : {2u, 3u, 7u, 16u}) {
      const Nodes nodes = nodes_of(count, ranks_a_node);
      for (const char* spec : {"leader:across=dissemination", "leader:across=gather_broadcast/4",
                               "leader:across=pairwise_exchange", "leader:across=linear", "leader"}) {
        const Steps first = steps_of(nodes, 0, spec);
        for (uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
          const Steps steps = steps_of(nodes, rank, spec);
          EXPECT_EQ(steps.triggers, rank % ranks_a_node == 0 ? 1 : 0) << spec << ", rank " << rank;
          EXPECT_EQ(steps.messages_out, 0) << spec << ", rank " << rank;
          if (steps.triggers != 0) {
            EXPECT_EQ(steps.program, first.program);
          }
        }
      }
    }
  }
}

TEST(NicPath, ADegreeThatIsNotListedIsHeldWhereItIsChosen) {
  const Nodes nodes = nodes_of(9, 2);
  for (const char* spec : {"leader:across=gather_broadcast/3", "leader:across=gather_broadcast/7",
                           "leader:across=gather_broadcast/flat"}) {
    for (uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
      const Steps steps = steps_of(nodes, rank, spec);
      EXPECT_EQ(steps.triggers, rank % 2 == 0 ? 1 : 0) << spec << ", rank " << rank;
      EXPECT_EQ(steps.messages_out, 0) << spec << ", rank " << rank;
    }
  }
}

TEST(NicPath, TellsWhatIsAgainstTheChosenOne) {
  const Nodes nodes = nodes_of(60, 1);
  std::string why_not;
  const std::unique_ptr<NicPath> path = NicPath::find(offers_of(60), nodes, 0, why_not);
  const selection::Choice flat = choice_of(nodes, "gather_broadcast:degree=flat");
  const std::string why = path->hold_programs(&flat);
  EXPECT_NE(why.find("gather_broadcast: "), std::string::npos) << why;
}

TEST(NicPath, WhereRanksStandForThemselvesAFlatBarrierIsTheEngines) {
  const Nodes nodes = nodes_of(5, 1);
  for (uint32_t rank = 0; rank < 5; ++rank) EXPECT_EQ(steps_of(nodes, rank, "dissemination").triggers, 1);
}

TEST(NicPath, ABarrierOfAllRanksOfNodesIsNoneForEngines) {
  const Nodes nodes = nodes_of(3, 2);
  std::string why_not;
  const std::unique_ptr<NicPath> path = NicPath::find(offers_of(6), nodes, 0, why_not);
  const selection::Choice flat = choice_of(nodes, "dissemination");
  EXPECT_NE(path->hold_programs(&flat).find("dissemination"), std::string::npos);
}

TEST(NicPath, ANodeWithoutAnEngineIsNamed) {
  const Nodes nodes = nodes_of(3, 2);
  std::vector<NicPath::Offer> offers = offers_of(6);
  offers[1].ip = 0;  // doesn't stand for its node
  std::string why_not;
  EXPECT_NE(NicPath::find(offers, nodes, 0, why_not), nullptr);
  offers[4] = {};
  std::string("no engine here").copy(offers[4].reason, sizeof offers[4].reason - 1);
  EXPECT_EQ(NicPath::find(offers, nodes, 0, why_not), nullptr);
  EXPECT_EQ(why_not, "rank 4: no engine here");
  offers[0].wish = NicPath::Wish::kOff;
  EXPECT_EQ(NicPath::find(offers, nodes, 0, why_not), nullptr);
  EXPECT_EQ(why_not, "HOCKET_NIC=off");
}

}  // namespace
}  // namespace hocket::communicator
