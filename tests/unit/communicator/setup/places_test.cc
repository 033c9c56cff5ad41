// SPDX-License-Identifier: BSD-3-Clause
// What compositions within a node go over.
#include "communicator/setup/places.h"

#include <gtest/gtest.h>

#include <vector>

namespace hocket::communicator {
namespace {

// Four ranks on two caches of one socket.
std::vector<RankPlace> bound() {
  std::vector<RankPlace> ranks;
  for (const int32_t cache : {0, 0, 8, 8}) ranks.push_back({.cache = cache, .socket = 0});
  return ranks;
}

TEST(Places, AreDomainsBeforeCaches) {
  std::vector<RankPlace> ranks = bound();
  for (int32_t rank = 0; rank < 4; ++rank) ranks[static_cast<size_t>(rank)].domain = rank % 2;
  const Places places = places_of(ranks);
  ASSERT_NE(places.domains, nullptr);
  EXPECT_TRUE(places.domains->together(0, 2));
  ASSERT_NE(places.caches, nullptr);
  EXPECT_TRUE(places.caches->together(0, 1));
  EXPECT_EQ(places.sockets, nullptr) << "all ranks are on one";
}

TEST(Places, AreCachesInOneDomainOrUnknownOnes) {
  for (const int32_t domain : {-1, 0}) {
    std::vector<RankPlace> ranks = bound();
    for (RankPlace& rank : ranks) rank.domain = domain;
    const Places places = places_of(ranks);
    ASSERT_NE(places.domains, nullptr) << domain;
    EXPECT_EQ(places.domains->count(), 2u);
    EXPECT_TRUE(places.domains->together(2, 3));
  }
  std::vector<RankPlace> ranks = bound();
  ranks[3].cache = -1;
  EXPECT_EQ(places_of(ranks).domains, nullptr) << "one may run anywhere";
}

TEST(Places, AreTheDomainsThatRanksHaveBeenTold) {
  std::vector<RankPlace> ranks = bound();
  for (RankPlace& rank : ranks) {
    rank.domain = 0;
    rank.names_domain = 1;
  }
  const Places places = places_of(ranks);
  EXPECT_EQ(places.domains, nullptr) << "all were told the same one";
  EXPECT_NE(places.caches, nullptr);
  // By some at least.
  ranks = bound();
  ranks[1].domain = 5;
  ranks[1].names_domain = 1;
  EXPECT_EQ(places_of(ranks).domains, nullptr);
}

}  // namespace
}  // namespace hocket::communicator
