// SPDX-License-Identifier: BSD-3-Clause
#include "words/collective_names.h"

#include <gtest/gtest.h>

namespace hocket::command {
namespace {

using schedule::Collective;

std::string refusal(const std::string& word, std::span<const std::string_view> others = {}) {
  const Result<Collective> found = read_collective(word, others);
  return found.is_ok() ? "" : found.status().message();
}

TEST(CollectiveNames, AreHocketsOrMpis) {
  for (int i = 0; i < schedule::kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const std::string name(schedule::name(collective));
    EXPECT_EQ(find_collective(name), collective);
    std::string mpi = "MPI_" + name;
    mpi[4] = static_cast<char>(mpi[4] - 'a' + 'A');
    EXPECT_EQ(find_collective(mpi), collective) << mpi;
  }
  for (const char* name : {"bcast", "Bcast", "MPI_Bcast", "MPI_BCAST"})
    EXPECT_EQ(find_collective(name), Collective::kBroadcast) << name;
  EXPECT_EQ(find_collective("reduce-scatter"), Collective::kReduceScatter);
  for (const char* name : {"", "MPI_", "MPI_MPI_Bcast", "bcastv", "MPI_Ibcast"})
    EXPECT_FALSE(find_collective(name).has_value()) << name;
}

TEST(CollectiveNames, TheNearestIsToldWhereOneIsUnknown) {
  EXPECT_EQ(refusal("MPI_Bcats").find("`MPI_Bcats` is not a collective: did you mean `broadcast`? there are barrier, "),
            0U);
  EXPECT_NE(refusal("alreduce").find("did you mean `allreduce`?"), std::string::npos);
  EXPECT_EQ(refusal("frobnicate").find("`frobnicate` is not a collective: there are barrier"), 0U);
  constexpr std::string_view kOthers[] = {"pingpong"};
  EXPECT_NE(refusal("pingpog", kOthers).find("did you mean `pingpong`?"), std::string::npos);
  EXPECT_TRUE(refusal("pingpong", kOthers).ends_with(", pingpong"));  // the caller knows these itself
}

TEST(CollectiveNames, ListsAreInOrderAndHaveEachOnce) {
  const Result<std::vector<Collective>> some = read_collectives("MPI_Reduce,bcast,broadcast");
  ASSERT_TRUE(some.is_ok()) << some.status().message();
  EXPECT_EQ(some.value(), (std::vector{Collective::kBroadcast, Collective::kReduce}));
  EXPECT_EQ(read_collectives("scan,all").value().size(), static_cast<size_t>(schedule::kCollectives));
  EXPECT_FALSE(read_collectives("scan,,scan").is_ok());
}

}  // namespace
}  // namespace hocket::command
