// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/collective_names.h"

#include <gtest/gtest.h>

namespace hocket::schedule {
namespace {

TEST(CollectiveNames, AreHocketsOrMpis) {
  for (int i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const std::string name(hocket::schedule::name(collective));
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
  EXPECT_EQ(not_a_collective("MPI_Bcats")
                .find("`MPI_Bcats` is not a collective: did you mean `broadcast`? there are barrier, "),
            0U);
  EXPECT_NE(not_a_collective("alreduce").find("did you mean `allreduce`?"), std::string::npos);
  EXPECT_EQ(not_a_collective("frobnicate").find("`frobnicate` is not a collective: there are barrier"), 0U);
  constexpr std::string_view kOthers[] = {"pingpong"};
  EXPECT_NE(not_a_collective("pingpog", kOthers).find("did you mean `pingpong`?"), std::string::npos);
  EXPECT_TRUE(not_a_collective("pingpong", kOthers).ends_with(", pingpong"));  // the caller knows these itself
}

}  // namespace
}  // namespace hocket::schedule
