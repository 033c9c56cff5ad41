// SPDX-License-Identifier: BSD-3-Clause
// Calls to which a rank that has started them owes nothing more: it has left its part in memory, and its peers come to
// their end while it computes (docs/interposer.md has the list).
#include <gtest/gtest.h>
#include <hocket/hocket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/team.h"

namespace hocket::test {
namespace {

constexpr size_t kLongs = 8192;  // of 8 bytes: 64 KiB

struct Started {
  const char* name;
  size_t longs;    // up to how many
  int most_ranks;  // on how many
  hocket_status_t (*start)(hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count,
                           hocket_request_t** request);
};

constexpr Started kStarted[] = {
    {"barrier", 1, 8,
     [](hocket_comm_t* comm, const int64_t*, int64_t*, size_t, hocket_request_t** request) {
       return hocket_barrier_start(comm, request);
     }},
    {"broadcast", kLongs, 8,
     [](hocket_comm_t* comm, const int64_t*, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_broadcast_start(comm, output, count, HOCKET_INT64, 0, request);
     }},
    {"reduce", kLongs, 4,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_reduce_start(comm, input, output, count, HOCKET_INT64, HOCKET_SUM, 0, request);
     }},
    {"allreduce", kLongs / 8, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_allreduce_start(comm, input, output, count, HOCKET_INT64, HOCKET_SUM, request);
     }},
    {"gather", kLongs, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_gather_start(comm, input, output, count, HOCKET_INT64, 0, request);
     }},
    {"scatter", kLongs / 8, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_scatter_start(comm, input, output, count, HOCKET_INT64, 0, request);
     }},
    {"allgather", kLongs, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_allgather_start(comm, input, output, count, HOCKET_INT64, request);
     }},
    {"alltoall", kLongs / 8, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_alltoall_start(comm, input, output, count, HOCKET_INT64, request);
     }},
    {"reduce_scatter_block", kLongs / 8, 8,
     [](hocket_comm_t* comm, const int64_t* input, int64_t* output, size_t count, hocket_request_t** request) {
       return hocket_reduce_scatter_block_start(comm, input, output, count, HOCKET_INT64, HOCKET_SUM, request);
     }},
};

class Published : public testing::TestWithParam<Started> {};

// `absent` starts each call first, and doesn't look again before the others are through.
void end_without(int absent, int size, const Started& what) {
  constexpr size_t kLengths[] = {1, 64, kLongs / 8, kLongs};
  std::array<std::atomic<int>, std::size(kLengths)> over{};
  std::array<std::atomic<bool>, std::size(kLengths)> has_started{};
  run_threads(size, [&](Rank& me) {
    const bool is_absent = me.rank == absent;
    std::vector<int64_t> input(kLongs * static_cast<size_t>(size), 1), output(input.size(), 1);
    for (size_t i = 0; i < std::size(kLengths) && kLengths[i] <= what.longs; ++i) {
      hocket_request_t* request = nullptr;
      while (!is_absent && !has_started[i]) std::this_thread::yield();
      ASSERT_EQ(what.start(me.comm, input.data(), output.data(), kLengths[i], &request), HOCKET_OK);
      has_started[i] = true;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (is_absent && over[i] < size - 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
      EXPECT_TRUE(!is_absent || over[i] == size - 1)
          << kLengths[i] << " elements, without rank " << absent << " of " << size;
      EXPECT_EQ(hocket_wait(&request), HOCKET_OK);
      if (!is_absent) ++over[i];
      EXPECT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    }
  });
}

TEST_P(Published, EndWithoutARankThatHasStartedThem) {
  if (has_several_nodes()) GTEST_SKIP() << "between nodes ranks wait for messages";
  for (const int size : {2, 3, 8}) {
    if (size > GetParam().most_ranks) continue;
    for (int absent = 0; absent < size; absent += size > 3 ? 4 : 1) end_without(absent, size, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, Published, testing::ValuesIn(kStarted),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hocket::test
