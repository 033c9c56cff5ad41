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

TEST(CollectiveNames, OfMpiMayBeOfAnyForm) {
  for (const char* name : {"MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Allreduce_c", "MPI_Iallreduce_c",
                           "MPI_Allreduce_init_c", "iallreduce", "allreduce"})
    EXPECT_EQ(read_collective_of_form(name).value(), Collective::kAllreduce) << name;
  EXPECT_EQ(read_collective_of_form("MPI_Ibcast").value(), Collective::kBroadcast);
  EXPECT_EQ(read_collective_of_form("MPI_Ineighbor_alltoallv").value(), Collective::kNeighborAlltoallv);
  for (const char* name : {"MPI_Irecv", "MPI_Init", "MPI_I", "_init", "i"})
    EXPECT_FALSE(read_collective_of_form(name).is_ok()) << name;
  EXPECT_FALSE(read_any_collective("MPI_Iallreduce").is_ok()) << "what is measured is the blocking call";
}

}  // namespace
}  // namespace hocket::command
