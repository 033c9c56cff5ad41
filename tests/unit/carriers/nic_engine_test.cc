// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/nic_engine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "engines/nic/operation_name.h"

namespace hocket::carriers {
namespace {

using schedule::Buffer;
using schedule::Collective;
using schedule::Nodes;
using schedule::StepKind;

Nodes nodes_of(uint32_t nodes, uint32_t ranks_a_node) {
  return Nodes::in_blocks(std::vector<uint32_t>(nodes, ranks_a_node));
}

std::vector<NicOffer> offers_of(uint32_t ranks) {
  std::vector<NicOffer> offers(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    offers[rank].ip = rank + 1;
    offers[rank].port = 1;
  }
  return offers;
}

// Of a call that is forced.
selection::Choice choice_of(const Nodes& nodes, const std::string& spec, Collective collective = Collective::kBarrier) {
  selection::Query query;
  query.collective = collective;
  query.bytes = 8;
  query.ranks = nodes.ranks();
  query.nodes = &nodes;
  const Result<selection::Spec> forced = selection::parse_spec(query.collective, spec);
  return selection::choose(query, selection::Table::shipped(), &forced.value()).value();
}

// One choice, and none of other collectives'.
class OneChoice final : public Choices {
 public:
  OneChoice(selection::Choice choice, std::string forced) : choice_(std::move(choice)), forced_(std::move(forced)) {}
  std::vector<selection::Choice> of(Collective collective, uint64_t, const char*) const override {
    if (collective != choice_.algorithm->collective) return {};
    return {choice_};
  }
  std::string forced(Collective collective) const override {
    return collective == choice_.algorithm->collective ? forced_ : "";
  }
  bool wants_multicast() const override { return false; }

 private:
  selection::Choice choice_;
  std::string forced_;
};

struct Steps {
  size_t triggers = 0;
  size_t messages_out = 0;
  engines::Instruction trigger;
};

// Of the rank's call by `spec`, with engines on all nodes.
Steps steps_of(const Nodes& nodes, uint32_t rank, const std::string& spec, const EngineCall& call = {}) {
  const selection::Choice choice = choice_of(nodes, spec, call.collective);
  std::string why_not;
  const std::unique_ptr<NicEngine> path = NicEngine::find(nullptr, offers_of(nodes.ranks()), nodes, rank, why_not);
  EXPECT_NE(path, nullptr) << why_not;
  EXPECT_EQ(path->hold_programs(OneChoice(choice, spec)), "");
  schedule::Shape shape;
  choice.fill(shape);
  shape.size = nodes.ranks();
  shape.rank = rank;
  shape.root = call.root;
  shape.nodes = &nodes;
  std::optional<schedule::Plan> plan = path->plan(choice, call, shape);
  if (!plan) plan = algorithms::make_plan(*choice.algorithm, shape);
  const engines::Program program = engines::bind(*plan, call.bytes, 1);
  Steps steps;
  for (const engines::Instruction& step : program.instructions) {
    if (step.kind == StepKind::kTrigger) {
      ++steps.triggers;
      steps.trigger = step;
    } else if (step.carrier != engines::kSharedMemory) {
      ++steps.messages_out;
    }
  }
  return steps;
}

TEST(NicEngine, MessagesBetweenNodesBecomeOneStepOfEachLeader) {
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
            EXPECT_EQ(steps.trigger.trigger.program, first.trigger.trigger.program);
          }
        }
      }
    }
  }
}

TEST(NicEngine, ADegreeThatIsNotListedIsHeldWhereItIsChosen) {
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

TEST(NicEngine, TellsWhatIsAgainstTheChosenOne) {
  const Nodes nodes = nodes_of(60, 1);
  std::string why_not;
  const std::unique_ptr<NicEngine> path = NicEngine::find(nullptr, offers_of(60), nodes, 0, why_not);
  const selection::Choice flat = choice_of(nodes, "gather_broadcast:degree=flat");
  const std::string why = path->hold_programs(OneChoice(flat, ""));
  EXPECT_NE(why.find("gather_broadcast: "), std::string::npos) << why;
}

TEST(NicEngine, WhereRanksStandForThemselvesAFlatBarrierIsTheEngines) {
  const Nodes nodes = nodes_of(5, 1);
  for (uint32_t rank = 0; rank < 5; ++rank) EXPECT_EQ(steps_of(nodes, rank, "dissemination").triggers, 1);
}

TEST(NicEngine, ABarrierOfAllRanksOfNodesIsNoneForEngines) {
  const Nodes nodes = nodes_of(3, 2);
  std::string why_not;
  const std::unique_ptr<NicEngine> path = NicEngine::find(nullptr, offers_of(6), nodes, 0, why_not);
  const selection::Choice flat = choice_of(nodes, "dissemination");
  EXPECT_NE(path->hold_programs(OneChoice(flat, "")).find("dissemination"), std::string::npos);
}

EngineCall call_of(Collective collective, uint64_t bytes, uint32_t root = 0) {
  return {collective, reduction::Operation::kSum, reduction::Type::kDouble, bytes, root};
}

TEST(NicEngine, ShortReductionsAndBroadcastsAreOneStepOfEachLeader) {
  for (const uint32_t ranks_a_node : {1u, 3u}) {
    const Nodes nodes = nodes_of(5, ranks_a_node);
    for (const uint32_t root_node : {0u, 3u}) {
      for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce}) {
        const bool has_root = schedule::has_root(collective);
        const uint32_t root = has_root ? root_node * ranks_a_node : 0;
        for (uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
          const Steps steps = steps_of(nodes, rank, "leader:across=tree_mm/8", call_of(collective, 512, root));
          EXPECT_EQ(steps.messages_out, 0u);
          ASSERT_EQ(steps.triggers, rank % ranks_a_node == 0 ? 1u : 0u);
          if (steps.triggers == 0) continue;
          const bool gives = collective != Collective::kBroadcast || rank == root;
          const bool gets = !has_root || (collective == Collective::kReduce) == (rank == root);
          EXPECT_EQ(steps.trigger.source != Buffer::kNone, gives);
          EXPECT_EQ(steps.trigger.destination != Buffer::kNone, gets);
          EXPECT_EQ(steps.trigger.bytes, 512u);
          EXPECT_EQ(steps.trigger.trigger.root, has_root ? root_node : 0);
          EXPECT_EQ(steps.trigger.trigger.operation, collective == Collective::kBroadcast
                                                         ? engines::nic::kCopies
                                                         : engines::nic::operation_name(NIC_SUM, NIC_DOUBLE));
        }
      }
    }
  }
}

TEST(NicEngine, ARootThatIsNotTheFirstOfItsNodeIsServedByThatOne) {
  const Nodes nodes = nodes_of(4, 3);
  for (const uint32_t root : {1u, 8u}) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
      const bool is_reduction = collective == Collective::kReduce;
      for (uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
        const Steps steps = steps_of(nodes, rank, "leader:across=tree_mm/8", call_of(collective, 64, root));
        EXPECT_EQ(steps.messages_out, 0u);
        ASSERT_EQ(steps.triggers, rank % 3 == 0 ? 1u : 0u);
        if (steps.triggers == 0) continue;
        const bool serves = rank / 3 == root / 3;
        EXPECT_EQ(steps.trigger.source != Buffer::kNone, is_reduction || serves);
        EXPECT_EQ(steps.trigger.destination != Buffer::kNone, is_reduction == serves);
        EXPECT_EQ(steps.trigger.trigger.root, root / 3);
      }
    }
  }
}

TEST(NicEngine, TheTreeThatIsChosenIsHeld) {
  for (const char* tree : {"tree_mm/1", "tree_mm/2", "tree_mm/3", "tree_mm/5", "tree_mm/flat", "parents/0.4.1.4.0"}) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce}) {
      const Nodes nodes = nodes_of(5, 2);
      const std::string spec = std::string("leader:across=") + tree;
      for (uint32_t rank = 0; rank < nodes.ranks(); ++rank) {
        const Steps steps = steps_of(nodes, rank, spec, call_of(collective, 64));
        EXPECT_EQ(steps.triggers, rank % 2 == 0 ? 1u : 0u) << spec << ", rank " << rank;
        EXPECT_EQ(steps.messages_out, 0u) << spec << ", rank " << rank;
      }
      const std::string alone = "parents:0.4.1.4.0";
      EXPECT_EQ(steps_of(nodes_of(5, 1), 3, alone, call_of(collective, 64)).triggers, 1u);
    }
  }
}

TEST(NicEngine, WhatIsForcedAndCannotBeHeldIsAnErrorWhereEnginesAreAskedFor) {
  const Nodes nodes = nodes_of(60, 1);
  const auto against = [&](NicWish wish, const std::string& spec, Collective collective) {
    std::vector<NicOffer> offers = offers_of(60);
    offers[0].wish = wish;
    std::string why_not;
    const std::unique_ptr<NicEngine> engine = NicEngine::find(nullptr, offers, nodes, 0, why_not);
    return engine->hold_programs(OneChoice(choice_of(nodes, spec, collective), spec));
  };
  const std::string flat = against(NicWish::kOn, "tree_mm:degree=flat", Collective::kReduce);
  EXPECT_NE(flat.find("reduce is forced to be tree_mm:degree=flat"), std::string::npos) << flat;
  EXPECT_NE(flat.find("59 to receive"), std::string::npos) << flat;
  EXPECT_NE(flat.find("HOCKET_NIC=auto"), std::string::npos) << flat;
  EXPECT_NE(against(NicWish::kOn, "ring", Collective::kAllreduce), "");
  EXPECT_EQ(against(NicWish::kAutomatic, "tree_mm:degree=flat", Collective::kReduce), "");
  EXPECT_EQ(against(NicWish::kOn, "tree_mm:degree=2", Collective::kReduce), "");
}

TEST(NicEngine, ShortBlocksAreGatheredByAllAndExchanged) {
  const Nodes even = nodes_of(4, 2);
  const auto gathered = [&](const Nodes& nodes, uint64_t bytes, const char* spec = "leader:across=tree_mm/8") {
    return steps_of(nodes, 0, spec, call_of(Collective::kAllgather, bytes));
  };
  const Steps row = gathered(even, 64);
  EXPECT_EQ(row.triggers, 1u);
  EXPECT_EQ(row.messages_out, 0u);
  EXPECT_EQ(row.trigger.bytes, 128u);  // of a node
  EXPECT_EQ(gathered(even, 65).triggers, 0u);
  const Nodes uneven(std::vector<uint64_t>{0, 0, 1, 2});
  EXPECT_EQ(gathered(uneven, 8, "leader:across=ring").triggers, 0u);
  const Nodes ones = nodes_of(5, 1);
  const auto exchanged = [&](uint64_t bytes) {
    return steps_of(ones, 3, "linear", call_of(Collective::kAlltoall, bytes));
  };
  EXPECT_EQ(exchanged(96).triggers, 1u);
  EXPECT_EQ(exchanged(96).trigger.bytes, 5 * 96u);
  EXPECT_EQ(exchanged(97).triggers, 0u);  // 13 words for each
}

TEST(NicEngine, WhatANodesRanksHaveForAnotherIsExchangedAsOneBlock) {
  const Nodes even = nodes_of(4, 4);
  const auto exchanged = [](const Nodes& nodes, uint32_t rank, uint64_t bytes, const char* spec) {
    return steps_of(nodes, rank, spec, call_of(Collective::kAlltoall, bytes));
  };
  for (uint32_t rank = 0; rank < even.ranks(); ++rank) {
    const Steps steps = exchanged(even, rank, 8, "leader:across=linear");
    EXPECT_EQ(steps.messages_out, 0u);
    ASSERT_EQ(steps.triggers, rank % 4 == 0 ? 1u : 0u);
    if (steps.triggers != 0) {
      EXPECT_EQ(steps.trigger.bytes, 4 * 16 * 8u);
    }
  }
  EXPECT_EQ(exchanged(even, 0, 9, "leader:across=linear").triggers, 0u);
  EXPECT_EQ(exchanged(even, 0, 8, "leader:leaders=2,across=linear").triggers, 0u);
  EXPECT_EQ(exchanged(even, 0, 8, "linear").triggers, 0u);
  EXPECT_EQ(exchanged(Nodes(std::vector<uint64_t>{0, 0, 1, 2}), 0, 8, "leader:across=linear").triggers, 0u);
}

TEST(NicEngine, WhatEnginesCannotDoGoesByMessages) {
  const Nodes nodes = nodes_of(4, 2);
  const auto triggers = [&](const EngineCall& call, const char* spec = "leader:across=tree_mm/8") {
    return steps_of(nodes, 0, spec, call).triggers;
  };
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 8)), 1u);
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 513)), 0u);
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 0)), 0u);
  EXPECT_EQ(triggers({Collective::kAllreduce, {}, {}, 8, 0}), 0u);
  // Another schedule than is held.
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 8), "leader:across=recursive_doubling"), 1u);
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 8), "leader:across=ring"), 0u);
  EXPECT_EQ(triggers(call_of(Collective::kAllreduce, 8), "recursive_doubling"), 0u);
}

TEST(NicEngine, OperationsOfMpiAreEnginesWhereTheyAreOfFourOrEightBytes) {
  const auto name = [&](reduction::Operation operation, reduction::Type type) {
    return engines::nic::operation_name(Collective::kAllreduce, operation, type);
  };
  using reduction::Operation;
  using reduction::Type;
  EXPECT_EQ(name(Operation::kSum, Type::kDouble), engines::nic::operation_name(NIC_SUM, NIC_DOUBLE));
  EXPECT_EQ(name(Operation::kBitXor, Type::kUint32), engines::nic::operation_name(NIC_BIT_XOR, NIC_UINT32));
  EXPECT_EQ(name(Operation::kMin, Type::kFloat), engines::nic::operation_name(NIC_MIN, NIC_FLOAT));
  EXPECT_EQ(name(Operation::kProduct, Type::kDouble), 0);
  EXPECT_EQ(name(Operation::kLogicalAnd, Type::kInt32), 0);
  EXPECT_EQ(name(Operation::kSum, Type::kInt16), 0);
  EXPECT_EQ(name(Operation::kMaxLoc, Type::kDoubleInt), 0);
  EXPECT_EQ(name(Operation::kNone, Type::kDouble), 0);
}

TEST(NicEngine, ANodeWithoutAnEngineIsNamed) {
  const Nodes nodes = nodes_of(3, 2);
  std::vector<NicOffer> offers = offers_of(6);
  offers[1].ip = 0;  // doesn't stand for its node
  std::string why_not;
  EXPECT_NE(NicEngine::find(nullptr, offers, nodes, 0, why_not), nullptr);
  offers[4] = {};
  std::string("no engine here").copy(offers[4].reason, sizeof offers[4].reason - 1);
  EXPECT_EQ(NicEngine::find(nullptr, offers, nodes, 0, why_not), nullptr);
  EXPECT_EQ(why_not, "rank 4: no engine here");
  offers[0].wish = NicWish::kOff;
  EXPECT_EQ(NicEngine::find(nullptr, offers, nodes, 0, why_not), nullptr);
  EXPECT_EQ(why_not, "HOCKET_NIC=off");
}

}  // namespace
}  // namespace hocket::carriers
