// SPDX-License-Identifier: BSD-3-Clause
// What the model knows of lines that several ranks want, of caches and a memory that they share, and of sockets that
// are far apart; and which of Velamati et al.'s findings come out of it.
#include <gtest/gtest.h>

#include "selection/cost_model.h"
#include "selection/priced_calls.h"

namespace hocket::selection {
namespace {

// Two sockets of eight cores of the kind that was usual when the papers below were written; whole tenths, since they
// differ by more than that.
//   alpha: there and back, a line and its answer, of 109 cycles of 2.13 GHz each, which a line takes that another core
//     of the socket has changed (David, Guerraoui, Trigonakis, Everything You Always Wanted to Know About
//     Synchronization, 2013: Xeon). Who is next gets it when that is over (hot_line_us). Other socket: 289 cycles.
//   beta, source, other socket's KiB: 13 GB/s out of another core's cache, 9 GB/s out of the other socket's (Molka,
//     Hackenberg, Schoene, Mueller, Memory Performance and Cache Coherency Effects on an Intel Nehalem Multiprocessor
//     System, 2009). That one cache serves readers of the same lines 2.5 times as fast as one alone is assumed.
//   memory: three channels of 8.5 GB/s a socket, of which a copy takes three KiB a KiB; caches of 8 MiB each.
constexpr CostParameters kTwoSockets{.cores = 16,
                                     .alpha_us = 0.1,
                                     .beta_us_per_kib = 0.078,
                                     .gamma_us_per_kib = 0.03,
                                     .hot_line_us = 0.05,
                                     .source_us_per_kib = 0.03,
                                     .memory_us_per_kib = 0.06,
                                     .memory_after_kib = 16384,
                                     .caches = 2,
                                     .sockets = 2,
                                     .other_socket_us = 0.085,
                                     .other_socket_us_per_kib = 0.036};

CostParameters without_these(CostParameters parameters) {
  const CostParameters unknown;
  parameters.hot_line_us = unknown.hot_line_us;
  parameters.source_us_per_kib = unknown.source_us_per_kib;
  parameters.memory_us_per_kib = unknown.memory_us_per_kib;
  parameters.other_socket_us = unknown.other_socket_us;
  parameters.other_socket_us_per_kib = unknown.other_socket_us_per_kib;
  return parameters;
}

std::string cheapest(const Query& query, const CostParameters& parameters) {
  return to_text(cheapest_spec(query, parameters));
}

bool begins_with(const std::string& text, std::string_view beginning) { return text.starts_with(beginning); }

TEST(CostModelOfMemory, ALineGoesToOneRankAtATime) {
  CostParameters hot = without_these(kTwoSockets);
  const CostParameters cold = hot;
  hot.hot_line_us = 0.25;
  for (const uint32_t ranks : {2u, 3u, 8u, 16u}) {
    const Query query = call_of(Collective::kBroadcast, 8, ranks);
    const double dearer = price_of(query, "one_to_all", hot) - price_of(query, "one_to_all", cold);
    EXPECT_NEAR(dearer, (ranks - 2) * hot.hot_line_us, 1e-9) << ranks << ": the first finds nobody in its way";
    // Down the pipeline each line has one reader.
    EXPECT_EQ(price_of(query, "pipeline", hot), price_of(query, "pipeline", cold)) << ranks;
  }
  // Once to add to it and once to look at it, each of all ranks.
  const Query barrier = call_of(Collective::kBarrier, 0, 16);
  EXPECT_GT(price_of(barrier, "signal", hot), price_of(barrier, "signal", cold) + 25 * hot.hot_line_us);
}

TEST(CostModelOfMemory, WhoHasALineReadsItAgainForNothing) {
  CostParameters hot = without_these(kTwoSockets);
  const CostParameters cold = hot;
  hot.hot_line_us = 0.5;
  // With a shift, the ranks read what the root published in two goes.
  const Query query = call_of(Collective::kBroadcast, 4096, 4);
  EXPECT_NEAR(price_of(query, "one_to_all:degree=4", hot) - price_of(query, "one_to_all:degree=4", cold), 2 * 0.5,
              0.11);
}

TEST(CostModelOfMemory, OneCacheServesItsReadersTogether) {
  CostParameters shared = without_these(kTwoSockets);
  const CostParameters alone = shared;
  shared.source_us_per_kib = 0.05;
  const Query query = call_of(Collective::kBroadcast, 16384, 9);
  // Eight readers of 16 KiB, where one takes 16 * 0.078.
  EXPECT_NEAR(price_of(query, "one_to_all", shared) - price_of(query, "one_to_all", alone), 8 * 16 * 0.05 - 16 * 0.078,
              0.2);
  const double dearer = price_of(query, "pieces", shared) - price_of(query, "pieces", alone);
  EXPECT_LT(dearer, (8 * 16 * 0.05 - 16 * 0.078) / 4) << "where each reads from all";
}

TEST(CostModelOfMemory, WhatTheCachesHoldDoesNotGoThroughMemory) {
  CostParameters narrow = without_these(kTwoSockets);
  const CostParameters wide = narrow;
  narrow.memory_us_per_kib = 0.5;
  narrow.memory_after_kib = 16 * 64;
  const Query held = call_of(Collective::kBroadcast, 64 << 10, 16);
  EXPECT_EQ(price_of(held, "one_to_all", narrow), price_of(held, "one_to_all", wide));
  const Query longer = call_of(Collective::kBroadcast, 128 << 10, 16);
  EXPECT_GT(price_of(longer, "one_to_all", narrow), 15 * 128 * 0.5) << "as many copies, one after the other";
  EXPECT_LT(price_of(longer, "one_to_all", narrow), 15 * 128 * 0.5 * 1.2);
}

TEST(CostModelOfMemory, ANodesCachesHoldWhatItsOwnRanksHave) {
  CostParameters narrow = without_these(kTwoSockets);
  const CostParameters wide = narrow;
  narrow.memory_us_per_kib = 0.5;
  // The second has more ranks than are priced.
  for (const Nodes& nodes : {Nodes::in_blocks({8, 8, 4}), Nodes::in_blocks(std::vector<uint32_t>(8, 64))}) {
    const Query query = query_on(nodes, Collective::kBroadcast, 64 << 10);
    narrow.memory_after_kib = nodes.most() * 64;
    EXPECT_EQ(price_of(query, "leader", narrow), price_of(query, "leader", wide)) << "of the fullest node";
    narrow.memory_after_kib = nodes.most() * 64 - 1;
    EXPECT_GT(price_of(query, "leader", narrow), price_of(query, "leader", wide));
  }
}

TEST(CostModelOfMemory, WhatIsOnlyForTheCallGoesThroughMemoryToo) {
  CostParameters narrow = without_these(kTwoSockets);
  narrow.memory_us_per_kib = 0.5;
  narrow.memory_after_kib = 0;
  // Each rank takes everything four times, or everything once in halves, quarters and so on, and once more.
  const Query query = call_of(Collective::kAllreduce, 1 << 20, 16);
  EXPECT_GT(price_of(query, "recursive_doubling", narrow), 16 * 4 * 1024 * 0.5);
  EXPECT_LT(price_of(query, "reduce_scatter_allgather", narrow), 16 * 3 * 1024 * 0.5);
}

TEST(CostModelOfMemory, RanksThatShareCoresAreOnNoSocketInParticular) {
  CostParameters far = without_these(kTwoSockets);
  const CostParameters near = far;
  far.other_socket_us = 5;
  far.other_socket_us_per_kib = 5;
  for (const auto& [ranks, crowded] : {std::pair(8u, false), {16u, true}, {32u, true}}) {
    const Query query = call_of(Collective::kAllreduce, 4096, ranks, crowded);
    EXPECT_EQ(price_of(query, "direct", far), price_of(query, "direct", near)) << ranks;
  }
  const Query query = call_of(Collective::kAllreduce, 4096, 9);
  EXPECT_GT(price_of(query, "direct", far), price_of(query, "direct", near) + 5) << "the ninth core is over there";
}

TEST(CostModelOfMemory, PairwiseExchangeCrossesSocketsOnce) {
  const Query query = call_of(Collective::kBarrier, 0, 16);
  const CostParameters one_socket = without_these(kTwoSockets);
  EXPECT_EQ(price_of(query, "pairwise_exchange", one_socket), price_of(query, "dissemination", one_socket));
  EXPECT_NEAR(price_of(query, "pairwise_exchange", kTwoSockets) - price_of(query, "pairwise_exchange", one_socket),
              kTwoSockets.other_socket_us, 1e-9);
  EXPECT_GT(price_of(query, "dissemination", kTwoSockets),
            price_of(query, "pairwise_exchange", kTwoSockets) + kTwoSockets.other_socket_us);
  EXPECT_EQ(cheapest(query, kTwoSockets), "pairwise_exchange");
}

// "Broadcast AG for data of size 8192 B or more": of more than six ranks, of six from a few times that
// on, of four never.
TEST(FindingsOfVelamatiAndOthers, BroadcastGoesByPiecesFrom8KiB) {
  for (const uint32_t ranks : {8u, 10u, 12u, 16u}) {
    for (const uint64_t bytes : {8ull << 10, 16ull << 10, 64ull << 10, 256ull << 10})
      EXPECT_TRUE(begins_with(cheapest(call_of(Collective::kBroadcast, bytes, ranks), kTwoSockets), "pieces"))
          << ranks << " ranks, " << bytes;
    EXPECT_FALSE(begins_with(cheapest(call_of(Collective::kBroadcast, 2048, ranks), kTwoSockets), "pieces")) << ranks;
    EXPECT_EQ(cheapest(call_of(Collective::kBroadcast, 8 << 10, ranks), without_these(kTwoSockets)),
              "one_to_all:degree=1")
        << ranks << ": what all machines were taken for";
  }
  EXPECT_TRUE(begins_with(cheapest(call_of(Collective::kBroadcast, 256 << 10, 6), kTwoSockets), "pieces"));
  // Three readers are not yet in each other's way at the root.
  EXPECT_EQ(cheapest(call_of(Collective::kBroadcast, 256 << 10, 4), kTwoSockets), "one_to_all:degree=1");
}

// "Broadcast TR degree 3 for small data on more than four processes": on 16, which is four times four, degree 4 is.
TEST(FindingsOfVelamatiAndOthers, SmallBroadcastsGoDownATreeOfDegree3) {
  for (const uint32_t ranks : {8u, 9u, 12u}) {
    const Query query = call_of(Collective::kBroadcast, 8, ranks);
    EXPECT_EQ(cheapest(query, kTwoSockets), "tree_mm:degree=3") << ranks;
    if (ranks == 9) continue;  // of trees in slots, degree 4 is as deep
    const double third = price_of(query, "tree:degree=3", kTwoSockets);
    for (const char* other : {"tree:degree=2", "tree:degree=4"})
      EXPECT_LE(third, price_of(query, other, kTwoSockets)) << other << " on " << ranks;
  }
  EXPECT_EQ(cheapest(call_of(Collective::kBroadcast, 8, 16), kTwoSockets), "tree_mm:degree=4");
}

// Not found again: "broadcast G from small data on four or fewer processes". There the root must be told where to put
// it in either case; here it publishes, which is one message, and learning the places would be another.
TEST(FindingsOfVelamatiAndOthers, FourRanksReadFromTheRootInsteadOfBeingWrittenTo) {
  for (const uint32_t ranks : {3u, 4u}) {
    const Query query = call_of(Collective::kBroadcast, 8, ranks);
    EXPECT_EQ(cheapest(query, kTwoSockets), "one_to_all:degree=1");
    EXPECT_LT(price_of(query, "one_to_all", kTwoSockets), price_of(query, "root_copies", kTwoSockets));
  }
}

// "TREE degree 1 is best for very large data", "reduce AG is the best at intermediate data sizes". The first as long as
// caches hold all buffers: past them, what each rank of the pipeline keeps for itself goes through memory, too.
TEST(FindingsOfVelamatiAndOthers, ReductionGoesByATreeThenByPiecesThenDownThePipeline) {
  for (const uint32_t ranks : {8u, 12u, 16u}) {
    EXPECT_TRUE(begins_with(cheapest(call_of(Collective::kReduce, 512, ranks), kTwoSockets), "tree")) << ranks;
    EXPECT_EQ(cheapest(call_of(Collective::kReduce, 64 << 10, ranks), kTwoSockets), "pieces") << ranks;
    EXPECT_EQ(cheapest(call_of(Collective::kReduce, 512 << 10, ranks), kTwoSockets), "pipeline") << ranks;
  }
}

// Ranks of a machine that no table was made on: what it has of caches and sockets is all that is known.
TEST(CostModelOfMemory, AssumesOfRealCoresWhatNoTableSays) {
  const CostParameters said{.cores = 2, .alpha_us = 0.1, .beta_us_per_kib = 0.078, .gamma_us_per_kib = 0.03};
  Query query = call_of(Collective::kBroadcast, 8 << 10, 16);
  EXPECT_EQ(assumed(said, query), said) << "ranks that are only thought of";
  EXPECT_EQ(cheapest(query, said), "one_to_all:degree=1");
  query.has_cores = true;
  EXPECT_TRUE(cheapest(query, said).starts_with("pieces"));
  EXPECT_EQ(assumed(said, query).other_socket_us, 0);
  CostParameters measured = said;
  measured.hot_line_us = 0.01;
  EXPECT_EQ(assumed(measured, query).hot_line_us, 0.01) << "what a table says counts";
  query.ranks = 2;
  EXPECT_EQ(assumed(said, query), said) << "two are in nobody's way";
  query.ranks = 16;
  query.bytes = 8;
  EXPECT_TRUE(cheapest(query, said).starts_with("tree"));
  query.collective = Collective::kBarrier;
  const Nodes sockets = Nodes::in_blocks({8, 8});
  query.sockets = query.caches = &sockets;
  EXPECT_EQ(cheapest(query, said), "pairwise_exchange");
  EXPECT_LT(price_of(query, "pairwise_exchange", said), price_of(query, "dissemination", said));
  const std::string text = explain(query, Table(said));
  EXPECT_NE(text.find("assumed where the table says nothing"), std::string::npos) << text;
}

// Ranks that are bound to the cores of four caches in turn.
TEST(CostModelOfMemory, TriesCompositionsOverCachesWhereItKnowsThem) {
  const CostParameters said{.cores = 2, .alpha_us = 0.1, .beta_us_per_kib = 0.078, .gamma_us_per_kib = 0.03};
  std::vector<uint64_t> labels;
  for (uint32_t rank = 0; rank < 16; ++rank) labels.push_back(rank % 4);
  const Nodes caches(labels);
  const auto has_composition = [&](const Query& query) {
    for (const Prediction& one : predict(query, said))
      if (to_text(one.spec).starts_with("leader")) return true;
    return false;
  };
  Query query = call_of(Collective::kAllreduce, 64, 16);
  query.domains = &caches;
  EXPECT_FALSE(has_composition(query)) << "NUMA domains of ranks that are not bound to caches";
  query.caches = &caches;
  EXPECT_FALSE(has_composition(query)) << "ranks that share cores";
  query.has_cores = true;
  EXPECT_TRUE(has_composition(query));
  query.domains = query.caches = nullptr;
  EXPECT_FALSE(has_composition(query)) << "one cache";
}

// Of more ranks than are priced, each stands for one that is somewhere.
TEST(CostModelOfMemory, PricesSocketsAndCachesOfMoreRanksThanItLooksAt) {
  const CostParameters said{.cores = 2, .alpha_us = 0.1, .beta_us_per_kib = 0.078, .gamma_us_per_kib = 0.03};
  const Nodes sockets = Nodes::in_blocks({64, 64});
  const Nodes caches = Nodes::in_blocks(std::vector<uint32_t>(16, 8));
  const auto price = [&](const char* spec, const Nodes* of_caches, const Nodes* of_sockets) {
    Query query = call_of(Collective::kBarrier, 0, 128);
    query.has_cores = true;
    query.domains = &caches;
    query.caches = of_caches;
    query.sockets = of_sockets;
    return price_of(query, spec, said);
  };
  for (const char* spec : {"dissemination", "pairwise_exchange", "leader"}) {
    const double nowhere = price(spec, nullptr, nullptr);
    EXPECT_GT(price(spec, &caches, nullptr), nowhere) << spec;
    EXPECT_GT(price(spec, nullptr, &sockets), nowhere) << spec;
  }
  // As on one machine of 64: one of its exchanges crosses.
  Query half = call_of(Collective::kBarrier, 0, 64);
  half.has_cores = true;
  const Nodes halves = Nodes::in_blocks({32, 32});
  half.sockets = &halves;
  EXPECT_EQ(price("pairwise_exchange", nullptr, &sockets), price_of(half, "pairwise_exchange", said));
}

TEST(CostModelOfMemory, ReadsItsParameters) {
  CostParameters expected = kTwoSockets;
  expected.beta_us_per_kib = CostParameters().beta_us_per_kib;
  expected.gamma_us_per_kib = CostParameters().gamma_us_per_kib;
  expected.other_cache_us = 0.1;
  expected.other_cache_us_per_kib = 0.2;
  EXPECT_EQ(model_of("cores=16 hot_line_us=0.05 source_us_per_kib=0.03 memory_us_per_kib=0.06 memory_after_kib=16384 "
                     "caches=2 sockets=2 other_socket_us=0.085 other_socket_us_per_kib=0.036 other_cache_us=0.1 "
                     "other_cache_us_per_kib=0.2"),
            expected);
}

}  // namespace
}  // namespace hocket::selection
