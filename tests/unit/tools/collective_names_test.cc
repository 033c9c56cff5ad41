// SPDX-License-Identifier: BSD-3-Clause
#include "words/collective_names.h"

#include <gtest/gtest.h>

namespace hocket::command {
namespace {

using schedule::Collective;

TEST(CollectiveNames, ListsAreInOrderAndHaveEachOnce) {
  const Result<std::vector<Collective>> some = read_collectives("MPI_Reduce,bcast,broadcast");
  ASSERT_TRUE(some.is_ok()) << some.status().message();
  EXPECT_EQ(some.value(), (std::vector{Collective::kBroadcast, Collective::kReduce}));
  EXPECT_EQ(read_collectives("scan,all").value().size(), static_cast<size_t>(schedule::kCollectives));
  EXPECT_FALSE(read_collectives("scan,,scan").is_ok());
}

}  // namespace
}  // namespace hocket::command
