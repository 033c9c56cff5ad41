// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/argument_check.h"

#include <gtest/gtest.h>
#include <hocket/hocket.h>

#include <barrier>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace hocket::communicator {
namespace {

using schedule::Collective;

Arguments broadcast(uint64_t bytes, uint32_t root) {
  Arguments arguments;
  arguments.collective = Collective::kBroadcast;
  arguments.count = bytes;
  arguments.root = root;
  arguments.combiner.type = HOCKET_BYTE;
  return arguments;
}

Arguments allreduce(uint64_t count, hocket_type_t type, size_t element, uint64_t operation) {
  Arguments arguments;
  arguments.collective = Collective::kAllreduce;
  arguments.count = count;
  arguments.combiner.type = type;
  arguments.combiner.element_bytes = element;
  arguments.combiner.operation = static_cast<reduction::Operation>(operation);
  arguments.operation_name = operation;
  return arguments;
}

// What each rank is told when all are in these calls; the same, or the test has failed.
std::string difference_of(const std::vector<Arguments>& calls, Vocabulary vocabulary = Vocabulary::kHocket) {
  const auto size = static_cast<uint32_t>(calls.size());
  std::vector<std::string> told(size);
  std::vector<std::vector<char>> shown(size);
  std::barrier<> meeting(size);
  std::vector<std::thread> ranks;
  for (uint32_t rank = 0; rank < size; ++rank) {
    ranks.emplace_back([&, rank] {
      ArgumentCheck check(rank, size, vocabulary);
      const auto gather = [&](const void* mine, size_t bytes, void* all) {
        shown[rank].assign(static_cast<const char*>(mine), static_cast<const char*>(mine) + bytes);
        meeting.arrive_and_wait();
        for (uint32_t from = 0; from < size; ++from)
          std::memcpy(static_cast<char*>(all) + from * bytes, shown[from].data(), bytes);
        meeting.arrive_and_wait();
        return Status::ok();
      };
      Status difference;
      const Status compared = check.compare(calls[rank], nullptr, gather, difference);
      told[rank] = compared.is_ok() ? std::string(difference.message()) : "failed";
    });
  }
  for (std::thread& one : ranks) one.join();
  for (const std::string& text : told) EXPECT_EQ(text, told[0]);
  return told[0];
}

TEST(ArgumentCheck, FindsNothingInCallsThatAgree) {
  EXPECT_EQ(difference_of({broadcast(8, 1), broadcast(8, 1), broadcast(8, 1)}), "");
  EXPECT_EQ(difference_of({allreduce(3, HOCKET_INT32, 4, 1), allreduce(3, HOCKET_INT32, 4, 1)}), "");
}

TEST(ArgumentCheck, NamesTheRankTheCallAndWhatDiffers) {
  const std::string roots = difference_of({broadcast(8, 1), broadcast(8, 1), broadcast(8, 2)});
  EXPECT_NE(roots.find("call 1: rank 0 calls broadcast"), std::string::npos) << roots;
  EXPECT_NE(roots.find("rank 2"), std::string::npos) << roots;
  EXPECT_NE(roots.find("roots"), std::string::npos) << roots;
  const std::string counts = difference_of({broadcast(8, 1), broadcast(16, 1)});
  EXPECT_NE(counts.find("counts"), std::string::npos) << counts;
  const std::string collectives = difference_of({broadcast(8, 0), allreduce(2, HOCKET_INT32, 4, 1)}, Vocabulary::kMpi);
  EXPECT_NE(collectives.find("MPI_Bcast"), std::string::npos) << collectives;
  EXPECT_NE(collectives.find("MPI_Allreduce"), std::string::npos) << collectives;
}

TEST(ArgumentCheck, NoticesTypesAndOperations) {
  EXPECT_NE(difference_of({allreduce(3, HOCKET_INT32, 4, 1), allreduce(3, HOCKET_FLOAT, 4, 1)}), "");
  EXPECT_NE(difference_of({allreduce(3, HOCKET_INT32, 4, 1), allreduce(3, HOCKET_INT32, 4, 2)}), "");
}

// A root may describe what it broadcasts by other types.
TEST(ArgumentCheck, OfABroadcastTheLengthCounts) {
  Arguments by_integers = broadcast(8, 0);
  by_integers.combiner.type = HOCKET_INT64;
  EXPECT_EQ(difference_of({broadcast(8, 0), by_integers}), "");
}

Arguments alltoallv(const std::vector<uint64_t>& gives, const std::vector<uint64_t>& gets) {
  Arguments arguments;
  arguments.collective = Collective::kAlltoallv;
  arguments.combiner.type = HOCKET_BYTE;
  arguments.input_blocks = {gives.data(), nullptr};
  arguments.output_blocks = {gets.data(), nullptr};
  return arguments;
}

TEST(ArgumentCheck, ComparesWhatPairsOfRanksHaveForEachOther) {
  const std::vector<uint64_t> row0 = {0, 5}, row1 = {7, 0}, wrong = {8, 0};
  const std::vector<uint64_t> gets0 = {0, 7}, gets1 = {5, 0};
  EXPECT_EQ(difference_of({alltoallv(row0, gets0), alltoallv(row1, gets1)}), "");
  const std::string told = difference_of({alltoallv(row0, gets0), alltoallv(wrong, gets1)});
  EXPECT_NE(told.find("rank 1 has 8 bytes for rank 0, which expects 7"), std::string::npos) << told;
}

TEST(ArgumentCheck, NoticesCountsThatAreSwapped) {
  Arguments one;
  one.collective = Collective::kAllgatherv;
  one.combiner.type = HOCKET_BYTE;
  Arguments other = one;
  const std::vector<uint64_t> counts = {3, 4}, swapped = {4, 3};
  one.output_blocks = {counts.data(), nullptr};
  other.output_blocks = {swapped.data(), nullptr};
  const std::string told = difference_of({one, other});
  EXPECT_NE(told.find("all ranks must pass the same"), std::string::npos) << told;
}

}  // namespace
}  // namespace hocket::communicator
