// SPDX-License-Identifier: BSD-3-Clause
// Communicators made of others: who is in them, in which order, what fails with whom, and what goes on meanwhile.
#include <gtest/gtest.h>
#include <hocket/hocket.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_api/internal/leaving.h"
#include "support/team.h"

namespace hocket::test {
namespace {

bool text_has(const char* word) { return std::strstr(hocket_error_text(), word) != nullptr; }

int rank_in(const hocket_comm_t* comm) {
  int rank = -1;
  EXPECT_EQ(hocket_comm_rank(comm, &rank), HOCKET_OK);
  return rank;
}

int size_of(const hocket_comm_t* comm) {
  int size = -1;
  EXPECT_EQ(hocket_comm_size(comm, &size), HOCKET_OK);
  return size;
}

// The ranks in the whole team of the members of `comm`, as the members tell each other.
std::vector<int64_t> members(hocket_comm_t* comm, int own) {
  std::vector<int64_t> all(static_cast<size_t>(size_of(comm)), 0);
  all[static_cast<size_t>(rank_in(comm))] = own + 1;
  EXPECT_EQ(hocket_allreduce(comm, HOCKET_IN_PLACE, all.data(), all.size(), HOCKET_INT64, HOCKET_SUM), HOCKET_OK)
      << hocket_error_text();
  for (int64_t& one : all) --one;
  return all;
}

struct Wish {
  int color;
  int key;
};

std::vector<int64_t> expected_members(const std::vector<Wish>& wishes, int color) {
  std::vector<int64_t> found;
  for (size_t rank = 0; rank < wishes.size(); ++rank) {
    if (wishes[rank].color == color) found.push_back(static_cast<int64_t>(rank));
  }
  std::sort(found.begin(), found.end(), [&](int64_t a, int64_t b) {
    return std::pair(wishes[static_cast<size_t>(a)].key, a) < std::pair(wishes[static_cast<size_t>(b)].key, b);
  });
  return found;
}

// Random colors, some negative, and keys, many of them equal.
std::vector<Wish> random_wishes(int ranks, std::mt19937& random) {
  std::vector<Wish> wishes;
  for (int rank = 0; rank < ranks; ++rank) {
    wishes.push_back({static_cast<int>(random() % 4) - 1, static_cast<int>(random() % 5) - 2});
  }
  return wishes;
}

void split_at_random(Rank& me, unsigned seed, int rounds) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Wish> wishes = random_wishes(me.size, random);
    const Wish mine = wishes[static_cast<size_t>(me.rank)];
    hocket_comm_t* part = me.comm;  // to be overwritten
    ASSERT_EQ(hocket_comm_split(me.comm, mine.color, mine.key, &part), HOCKET_OK)
        << hocket_error_text() << ", seed " << seed;
    if (mine.color < 0) {
      ASSERT_EQ(part, nullptr) << "seed " << seed;
      continue;
    }
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(members(part, me.rank), expected_members(wishes, mine.color)) << "seed " << seed << ", round " << round;
    ASSERT_EQ(hocket_comm_destroy(part), HOCKET_OK);
  }
  ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
}

TEST(Split, OrdersByKeyAndThenByOldRankInEachColor) {
  const unsigned seed = std::random_device()();
  for (const int ranks : {1, 2, 3, 5, 8, 16}) {
    run_threads(ranks, [seed](Rank& me) { split_at_random(me, seed, 6); });
    EXPECT_EQ(run_processes(ranks, [seed](Rank& me) { split_at_random(me, seed, 6); }), 0) << "seed " << seed;
  }
}

TEST(Split, WithAllColorsNegativeMakesNothing) {
  run_threads(3, [](Rank& me) {
    hocket_comm_t* part = me.comm;
    ASSERT_EQ(hocket_comm_split(me.comm, -1 - me.rank, 0, &part), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(part, nullptr);
    EXPECT_EQ(hocket_barrier(me.comm), HOCKET_OK);
  });
}

TEST(Split, OfASplitOfASplit) {
  run_threads(8, [](Rank& me) {
    hocket_comm_t* half = nullptr;
    hocket_comm_t* quarter = nullptr;
    ASSERT_EQ(hocket_comm_split(me.comm, me.rank % 2, -me.rank, &half), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_comm_split(half, rank_in(half) / 2, 0, &quarter), HOCKET_OK) << hocket_error_text();
    // Halves hold 6 4 2 0 and 7 5 3 1.
    const int64_t first = me.rank >= 4 ? 6 + me.rank % 2 : 2 + me.rank % 2;
    EXPECT_EQ(members(quarter, me.rank), (std::vector<int64_t>{first, first - 2}));
    // Parents may go first.
    ASSERT_EQ(hocket_comm_destroy(half), HOCKET_OK);
    EXPECT_EQ(members(quarter, me.rank).size(), 2u);
    ASSERT_EQ(hocket_comm_destroy(quarter), HOCKET_OK);
  });
}

TEST(Dup, HasTheSameRanksAndLivesByItself) {
  run_threads(5, [](Rank& me) {
    hocket_comm_t* copies[3] = {};
    hocket_comm_t* from = me.comm;
    for (hocket_comm_t*& copy : copies) {
      ASSERT_EQ(hocket_comm_dup(from, &copy), HOCKET_OK) << hocket_error_text();
      from = copy;
    }
    for (hocket_comm_t* copy : copies) {
      EXPECT_EQ(members(copy, me.rank), (std::vector<int64_t>{0, 1, 2, 3, 4}));
    }
    for (const int i : {1, 0, 2}) {
      ASSERT_EQ(hocket_comm_destroy(copies[i]), HOCKET_OK);
      EXPECT_EQ(hocket_barrier(i == 2 ? me.comm : copies[2]), HOCKET_OK);
    }
  });
}

// The other way round on odd ranks; and rank 0 has heard of the others' leaving, which waits for nobody, before it
// leaves itself.
TEST(Dup, IsLeftInAnyOrderWithoutWaiting) {
  run_threads(5, [](Rank& me) {
    constexpr int kCopies = 4;
    hocket_comm_t* copies[kCopies] = {};
    for (hocket_comm_t*& copy : copies) {
      ASSERT_EQ(hocket_comm_dup(me.comm, &copy), HOCKET_OK) << hocket_error_text();
      EXPECT_EQ(members(copy, me.rank).size(), 5u);
    }
    if (me.rank == 0) {
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    }
    for (int i = 0; i < kCopies; ++i)
      ASSERT_EQ(c_api::leave(copies[me.rank % 2 == 0 ? i : kCopies - 1 - i]), HOCKET_OK) << hocket_error_text();
    if (me.rank != 0) {
      EXPECT_FALSE(c_api::has_left(copies[0]));
      ASSERT_EQ(hocket_barrier(me.comm), HOCKET_OK);
    }
    for (hocket_comm_t* copy : copies) {
      while (!c_api::has_left(copy)) sched_yield();
      ASSERT_EQ(hocket_comm_destroy(copy), HOCKET_OK) << hocket_error_text();
    }
  });
}

TEST(Dup, WhileNonBlockingCallsRunOnTheParent) {
  run_threads(4, [](Rank& me) {
    constexpr int kRequests = 5;
    constexpr size_t kCount = 30'000;
    hocket_request_t* requests[kRequests] = {};
    std::vector<std::vector<int64_t>> data(kRequests);
    hocket_comm_t* copies[kRequests] = {};
    for (int i = 0; i < kRequests; ++i) {
      data[i].assign(kCount, me.rank + i);
      ASSERT_EQ(hocket_allreduce_start(me.comm, HOCKET_IN_PLACE, data[i].data(), kCount, HOCKET_INT64, HOCKET_SUM,
                                       &requests[i]),
                HOCKET_OK);
      ASSERT_EQ(hocket_comm_dup(me.comm, &copies[i]), HOCKET_OK) << hocket_error_text();
    }
    for (int i = kRequests - 1; i >= 0; --i) {
      EXPECT_EQ(members(copies[i], me.rank).size(), 4u);
      ASSERT_EQ(hocket_wait(&requests[i]), HOCKET_OK) << hocket_error_text();
      ASSERT_EQ(data[i], std::vector<int64_t>(kCount, 6 + 4 * i));
      ASSERT_EQ(hocket_comm_destroy(copies[i]), HOCKET_OK);
    }
  });
}

TEST(Dup, ComparesArgumentsWhereThatIsAskedFor) {
  setenv("HOCKET_CHECK", "1", 1);
  const int failed = run_processes(3, [](Rank& me) {
    hocket_comm_t* copy = nullptr;
    ASSERT_EQ(hocket_comm_dup(me.comm, &copy), HOCKET_OK) << hocket_error_text();
    EXPECT_EQ(members(copy, me.rank).size(), 3u);
    ASSERT_EQ(hocket_comm_destroy(copy), HOCKET_OK);
    // One rank splits, the others call a barrier.
    const hocket_status_t status = me.rank == 1 ? hocket_comm_dup(me.comm, &copy) : hocket_barrier(me.comm);
    EXPECT_EQ(status, HOCKET_ERR_MISMATCH) << hocket_error_text();
  });
  unsetenv("HOCKET_CHECK");
  EXPECT_EQ(failed, 0);
}

// Makes a rank's shared memory so full that no communicator fits in any more.
std::vector<void*> hoard(hocket_context_t* context) {
  std::vector<void*> held;
  void* memory = nullptr;
  for (size_t bytes = size_t{1} << 20; bytes >= 64;) {
    if (hocket_alloc(context, bytes, &memory) == HOCKET_OK) {
      held.push_back(memory);
    } else {
      bytes /= 2;
    }
  }
  return held;
}

void with_small_memory(Rank& me, const std::function<void(hocket_context_t*, hocket_comm_t*)>& body) {
  hocket_context_options_t options = {};
  options.struct_size = sizeof options;
  options.memory_limit = size_t{8} << 20;
  hocket_context_t* context = nullptr;
  hocket_comm_t* comm = nullptr;
  ASSERT_EQ(hocket_context_create(&options, &context), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(hocket_comm_create(context, &me.bootstrap, &comm), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(hocket_barrier(comm), HOCKET_OK);
  body(context, comm);
  EXPECT_EQ(hocket_comm_destroy(comm), HOCKET_OK);
  EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
}

// Programs of the first release and of a later one: fields that are unknown here may be there, but ask for nothing.
TEST(ContextOptions, MayBeThoseOfAnOtherRelease) {
  struct Later {
    hocket_context_options_t known;
    uint64_t unknown;
  } later = {};
  hocket_context_t* context = nullptr;
  later.known.struct_size = sizeof later;
  later.known.memory_limit = size_t{8} << 20;
  EXPECT_EQ(hocket_context_create(&later.known, &context), HOCKET_OK) << hocket_error_text();
  EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  later.unknown = 1;
  EXPECT_EQ(hocket_context_create(&later.known, &context), HOCKET_ERR_INVALID_ARGUMENT);
  for (const size_t wrong : {size_t{0}, sizeof(hocket_context_options_t) - 1, SIZE_MAX}) {
    later.known.struct_size = wrong;
    EXPECT_EQ(hocket_context_create(&later.known, &context), HOCKET_ERR_INVALID_ARGUMENT) << wrong;
    EXPECT_NE(std::string(hocket_error_text()).find("struct_size"), std::string::npos);
  }
}

TEST(Split, AFailureStaysWithItsColorAndLeavesTheParentUnharmed) {
  const int failed = run_bare_processes(6, [](Rank& me) {
    with_small_memory(me, [&](hocket_context_t* context, hocket_comm_t* comm) {
      hocket_comm_t* first = nullptr;
      ASSERT_EQ(hocket_comm_dup(comm, &first), HOCKET_OK) << hocket_error_text();
      const std::vector<void*> held = me.rank == 4 ? hoard(context) : std::vector<void*>{};
      hocket_comm_t* part = comm;
      const hocket_status_t status = hocket_comm_split(comm, me.rank % 3, 0, &part);
      if (me.rank % 3 == 1) {
        EXPECT_EQ(status, HOCKET_ERR_NO_MEMORY) << hocket_error_text();
        EXPECT_EQ(part, nullptr);
        EXPECT_TRUE(text_has("hocket_comm_split: rank 1:")) << hocket_error_text();
      } else {
        ASSERT_EQ(status, HOCKET_OK) << hocket_error_text();
        EXPECT_EQ(members(part, me.rank), (std::vector<int64_t>{me.rank % 3, me.rank % 3 + 3}));
        EXPECT_EQ(hocket_comm_destroy(part), HOCKET_OK);
      }
      EXPECT_EQ(hocket_barrier(comm), HOCKET_OK) << hocket_error_text();
      for (void* memory : held) ASSERT_EQ(hocket_free(context, memory), HOCKET_OK);
      EXPECT_EQ(members(comm, me.rank).size(), 6u);
      // With memory it works.
      ASSERT_EQ(hocket_comm_split(comm, me.rank % 3, 0, &part), HOCKET_OK) << hocket_error_text();
      EXPECT_EQ(members(part, me.rank).size(), 2u);
      EXPECT_EQ(hocket_comm_destroy(part), HOCKET_OK);
      EXPECT_EQ(hocket_comm_destroy(first), HOCKET_OK);
    });
  });
  EXPECT_EQ(failed, 0);
}

TEST(Split, ADeadRankIsAnErrorOnAllWhoWaitAndNoHang) {
  const int failed = run_bare_processes(4, [](Rank& me) {
    hocket_context_t* context = nullptr;
    hocket_comm_t* comm = nullptr;
    ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK);
    ASSERT_EQ(hocket_comm_create(context, &me.bootstrap, &comm), HOCKET_OK) << hocket_error_text();
    ASSERT_EQ(hocket_barrier(comm), HOCKET_OK);
    if (me.rank == 3) raise(SIGKILL);
    alarm(60);  // a hang is a failure
    hocket_comm_t* part = nullptr;
    hocket_status_t status = HOCKET_OK;
    EXPECT_EQ(status = hocket_comm_split(comm, me.rank % 2, 0, &part), HOCKET_ERR_PEER_FAILED) << hocket_error_text();
    EXPECT_TRUE(text_has("rank 3")) << hocket_error_text();
    EXPECT_EQ(part, nullptr);
    EXPECT_EQ(hocket_comm_dup(comm, &part), HOCKET_ERR_BROKEN);
    EXPECT_EQ(hocket_comm_destroy(comm), HOCKET_OK);
    EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
  });
  EXPECT_EQ(failed, 1) << "only the rank that was killed";
}

TEST(Groups, BadArgumentsAreNamed) {
  run_threads(1, [](Rank& me) {
    hocket_comm_t* made = nullptr;
    EXPECT_EQ(hocket_comm_split(nullptr, 0, 0, &made), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("hocket_comm_split: `comm` is NULL")) << hocket_error_text();
    EXPECT_EQ(hocket_comm_split(me.comm, 0, 0, nullptr), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("`new_comm` is NULL")) << hocket_error_text();
    EXPECT_EQ(hocket_comm_dup(nullptr, &made), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("hocket_comm_dup")) << hocket_error_text();
    EXPECT_EQ(hocket_comm_world(nullptr, &made), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("hocket_comm_world: `context` is NULL")) << hocket_error_text();
    EXPECT_EQ(hocket_comm_world(me.context, nullptr), HOCKET_ERR_INVALID_ARGUMENT);
    EXPECT_TRUE(text_has("`comm` is NULL")) << hocket_error_text();
  });
}

TEST(World, OfAProgramStartedByHandIsOneRank) {
  unsetenv("HOCKET_RUN");
  hocket_context_t* context = nullptr;
  hocket_comm_t* comm = nullptr;
  ASSERT_EQ(hocket_context_create(nullptr, &context), HOCKET_OK);
  ASSERT_EQ(hocket_comm_world(context, &comm), HOCKET_OK) << hocket_error_text();
  EXPECT_EQ(members(comm, 7), (std::vector<int64_t>{7}));
  EXPECT_EQ(hocket_comm_destroy(comm), HOCKET_OK);
  EXPECT_EQ(hocket_context_destroy(context), HOCKET_OK);
}

}  // namespace
}  // namespace hocket::test
