// SPDX-License-Identifier: BSD-3-Clause
#include "platform/bootstrap/connector.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "platform/bootstrap/contexts.h"
#include "platform/child_process.h"

namespace hocket::platform {
namespace {

class ConnectorOf : public testing::TestWithParam<int> {};

TEST_P(ConnectorOf, ProcessesSeeEachOthersMemory) {
  const int ranks = GetParam();
  SharedBoard board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.push_back(start_child([&] { return connect_and_check(*board, rank, ranks); }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST_P(ConnectorOf, ThreadsSeeEachOthersMemory) {
  const int ranks = GetParam();
  const int before = open_descriptors();
  Board board;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { wrong += connect_and_check(board, rank, ranks) != 0; });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ConnectorOf, testing::Values(1, 2, 3, 16, 64, 128), testing::PrintToStringParamName());

TEST(Connector, ThreadsOfSeveralProcessesMix) {
  constexpr int kProcesses = 3;
  constexpr int kThreads = 3;
  SharedBoard board;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(start_child([&] {
      std::atomic<int> wrong{0};
      std::vector<std::thread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        const int rank = process * kThreads + thread;
        threads.emplace_back([&, rank] { wrong += connect_and_check(*board, rank, kProcesses * kThreads); });
      }
      for (auto& thread : threads) thread.join();
      return wrong.load();
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST(Connector, OverlappingGroupsInAnyOrderOfArrival) {
  // Rank 0 meets the others one group after the other, once all of these are at their call: those of later groups knock
  // before they are asked for.
  constexpr int kRanks = 6;
  SharedBoard board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start_child([&] {
      Context context = publish(*board, rank);
      wait_for(board->published, kRanks);
      int failures = 0;
      if (rank != 0) ++board->go_on;
      if (rank == 0) wait_for(board->go_on, kRanks - 1);
      for (int other = kRanks - 1; other > 0 && rank == 0; --other) {
        failures += !context.connector->connect_all({board->addresses[other]}, kTimeoutMs).is_ok();
      }
      if (rank != 0) failures += !context.connector->connect_all({board->addresses[0]}, kTimeoutMs).is_ok();
      ++board->connected;
      wait_for(board->connected, kRanks);
      return failures;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST(Connector, GroupsInARingDoNotWaitForEachOther) {
  // Each rank is at its first group when the next one's first group needs it, as happens to threads that set up
  // communicators of two ranks each. Who connects with whom is random, so there are several rounds.
  constexpr int kRanks = 3;
  for (int round = 0; round < 6; ++round) {
    SharedBoard board;
    std::vector<pid_t> children;
    for (int rank = 0; rank < kRanks; ++rank) {
      children.push_back(start_child([&] {
        Context context = publish(*board, rank);
        wait_for(board->published, kRanks);
        for (const int other : {(rank + 1) % kRanks, (rank + 2) % kRanks}) {
          const Address& address = board->addresses[other];
          auto connected = context.connector->connect_all({address}, 10'000);
          if (!connected.is_ok()) return 1;
          const std::shared_ptr<Peer> peer = connected.value()[0];
          if (!peer->is_alive() || peer->address().process != address.process) return 2;
          if (*reinterpret_cast<const uint64_t*>(peer->region().base() + board->offsets[other]) != 1000U + other)
            return 3;
        }
        ++board->connected;
        wait_for(board->connected, kRanks);  // nobody goes while others still look at it
        return 0;
      }));
    }
    for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0) << "round " << round;
  }
}

TEST(Connector, DescriptorLimitIsRaisedWhenNeeded) {
  constexpr int kRanks = 8;
  SharedBoard board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start_child([&] {
      rlimit limit{};
      getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = static_cast<rlim_t>(open_descriptors()) + 8;
      setrlimit(RLIMIT_NOFILE, &limit);
      return connect_and_check(*board, rank, kRanks);
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST(Connector, TooFewDescriptorsAreAClearError) {
  SharedBoard board;
  constexpr int kRanks = 12;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start_child([&] {
      const auto most = static_cast<rlim_t>(open_descriptors()) + 8;
      Context context = publish(*board, rank);
      wait_for(board->published, kRanks);
      const rlimit limit{most, most};
      setrlimit(RLIMIT_NOFILE, &limit);
      const std::vector<Address> addresses(board->addresses, board->addresses + kRanks);
      auto connected = context.connector->connect_all(addresses, kTimeoutMs);
      if (connected.is_ok()) return 1;
      if (connected.status().code() == Code::kPeerFailed) return 0;  // the others gave up first
      return std::string(connected.status().message()).find("ulimit -n") != std::string::npos ? 0 : 2;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

// Waits for the death without a limit in time: a test that hangs fails in the harness.
void expect_death_is_noticed(const Peer& peer) {
  while (peer.is_alive()) usleep(1000);
  EXPECT_FALSE(peer.is_alive());
}

struct Pair {
  SharedBoard board;
  Context context;
  pid_t child = 0;
  std::shared_ptr<Peer> peer;

  // The child connects, then does `then`.
  explicit Pair(const std::function<int(Board&, Context&)>& then) {
    child = start_child([&] {
      Context own = publish(*board, 1);
      wait_for(board->published, 2);
      if (!own.connector->connect_all({board->addresses[0]}, kTimeoutMs).is_ok()) return 99;
      ++board->connected;
      return then(*board, own);
    });
    context = publish(*board, 0);
    wait_for(board->published, 2);
    auto connected = context.connector->connect_all({board->addresses[1]}, kTimeoutMs);
    EXPECT_TRUE(connected.is_ok()) << connected.status().message();
    peer = connected.value()[0];
  }
};

TEST(Connector, KilledPeerIsNoticed) {
  Pair pair([](Board&, Context&) {
    pause();
    return 0;
  });
  wait_for(pair.board->connected, 1);
  EXPECT_TRUE(pair.peer->is_alive());
  kill(pair.child, SIGKILL);
  EXPECT_EQ(end_of_child(pair.child), 1000 + SIGKILL);
  expect_death_is_noticed(*pair.peer);
  auto again = pair.context.connector->connect_all({pair.board->addresses[1]}, kTimeoutMs);
  ASSERT_FALSE(again.is_ok());
  EXPECT_EQ(again.status().code(), Code::kPeerFailed);
  // Its memory stays readable.
  const auto* word = reinterpret_cast<const uint64_t*>(pair.peer->region().base() + pair.board->offsets[1]);
  EXPECT_EQ(*word, 1001U);
}

TEST(Connector, ForgetsWhoHasEndedAndIsNotUsedWhenOthersCome) {
  Pair pair([](Board&, Context&) { return 0; });
  EXPECT_EQ(end_of_child(pair.child), 0);
  const pid_t other = start_child([&] {
    Context own = publish(*pair.board, 2);
    if (!own.connector->connect_all({pair.board->addresses[0]}, kTimeoutMs).is_ok()) return 99;
    wait_for(pair.board->go_on, 1);
    return 0;
  });
  wait_for(pair.board->published, 3);
  Connector& connector = *pair.context.connector;
  const std::vector<Address> gone = {pair.board->addresses[1]}, here = {pair.board->addresses[2]};
  ASSERT_TRUE(connector.connect_all(here, kTimeoutMs).is_ok());
  EXPECT_TRUE(connector.known(gone).has_value()) << "it is used";
  pair.peer.reset();
  ASSERT_TRUE(connector.connect_all(here, kTimeoutMs).is_ok());
  EXPECT_FALSE(connector.known(gone).has_value());
  EXPECT_TRUE(connector.known(here).has_value());
  pair.board->go_on = 1;
  EXPECT_EQ(end_of_child(other), 0);
}

TEST(Connector, KilledPeerIsNoticedThoughItsForkedChildLivesOn) {
  Pair pair([](Board& board, Context&) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      prctl(PR_SET_PDEATHSIG, 0);
      wait_for(board.go_on, 1);
      _exit(0);
    }
    ++board.connected;
    pause();
    return 0;
  });
  wait_for(pair.board->connected, 2);
  EXPECT_TRUE(pair.peer->is_alive());
  kill(pair.child, SIGKILL);
  end_of_child(pair.child);
  expect_death_is_noticed(*pair.peer);
  pair.board->go_on = 1;
}

TEST(Connector, DestroyedContextIsNoticedThoughItsProcessLives) {
  Pair pair([](Board& board, Context& own) {
    wait_for(board.go_on, 1);
    own.connector.reset();
    wait_for(board.go_on, 2);
    return 0;
  });
  EXPECT_TRUE(pair.peer->is_alive());
  pair.board->go_on = 1;
  expect_death_is_noticed(*pair.peer);
  pair.board->go_on = 2;
  EXPECT_EQ(end_of_child(pair.child), 0);
}

TEST(Connector, ForkedChildDoesNotEndItsParentsConnections) {
  Pair pair([](Board& board, Context& own) {
    const int grandchild = in_child([&] {
      const bool refused = !own.connector->connect_all({board.addresses[0]}, kTimeoutMs).is_ok();
      own.connector.reset();
      own.region.reset();
      return refused ? 0 : 1;
    });
    ++board.connected;
    wait_for(board.go_on, 1);
    return grandchild;
  });
  wait_for(pair.board->connected, 2);
  EXPECT_TRUE(pair.peer->is_alive());
  pair.board->go_on = 1;
  EXPECT_EQ(end_of_child(pair.child), 0);
}

// Two processes meet, then those of `forgetful` (bits) forget it, and they meet again.
int meet_twice(Board& board, int rank, int forgetful) {
  Context context = publish(board, rank);
  wait_for(board.published, 2);
  const std::vector<Address> other{board.addresses[1 - rank]};
  const auto sees_word = [&](Peer& peer) {
    return *reinterpret_cast<uint64_t*>(peer.region().base() + board.offsets[1 - rank]) ==
           1000 + static_cast<uint64_t>(1 - rank);
  };
  for (int meeting = 1; meeting <= 2; ++meeting) {
    {
      auto connected = context.connector->connect_all(other, kTimeoutMs, static_cast<uint64_t>(meeting));
      if (!connected.is_ok()) return 1;
      if (!sees_word(*connected.value()[0])) return 2;
      ++board.connected;
      wait_for(board.connected, 2 * meeting);
      context.connector->forget(other, 7);  // which is none of theirs
      if (!context.connector->known(other)) return 3;
      context.connector->forget(other, static_cast<uint64_t>(meeting));  // somebody holds it
      if (!context.connector->known(other)) return 4;
    }
    const bool forgets = (forgetful >> rank & 1) != 0;
    if (forgets) context.connector->forget(other, static_cast<uint64_t>(meeting));
    if (context.connector->known(other).has_value() == forgets) return 5;
    ++board.go_on;
    wait_for(board.go_on, 2 * meeting);
  }
  return 0;
}

TEST(Connector, MeetsAgainWhomItHasForgotten) {
  for (const int forgetful : {0b00, 0b01, 0b10, 0b11}) {
    for (int i = 0; i < 8; ++i) {  // chance decides which of them connects with the other
      SharedBoard board;
      const pid_t first = start_child([&] { return meet_twice(*board, 0, forgetful); });
      const pid_t second = start_child([&] { return meet_twice(*board, 1, forgetful); });
      EXPECT_EQ(end_of_child(first), 0);
      EXPECT_EQ(end_of_child(second), 0);
    }
  }
}

#ifndef HOCKET_SANITIZED  // sanitizers need addresses of their own
// Rank 0 has no addresses for the other's memory at first.
int meet_where_addresses_end(Board& board, int rank) {
  Context context = publish(board, rank);
  wait_for(board.published, 2);
  const std::vector<Address> other{board.addresses[1 - rank]};
  Descriptor farewell;
  if (rank == 0) {
    Result<Descriptor> reserve = context.connector->prepare();
    if (!reserve.is_ok()) return 1;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    const rlimit none{1 << 20, limit.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    const bool connected = context.connector->connect_all(other, kTimeoutMs, 1).is_ok();
    setrlimit(RLIMIT_AS, &limit);
    if (connected) return 2;
    farewell = context.connector->give_up(1, reserve.take());
  } else {
    (void)context.connector->connect_all(other, kTimeoutMs, 1).is_ok();  // it may believe so
  }
  ++board.connected;
  wait_for(board.connected, 2);
  context.connector->forget(other, 1);
  ++board.go_on;
  wait_for(board.go_on, 2);
  auto again = context.connector->connect_all(other, kTimeoutMs, 2);
  if (!again.is_ok()) {
    fprintf(stderr, "rank %d: %s\n", rank, again.status().message());
    return 3;
  }
  ++board.connected;
  wait_for(board.connected, 4);
  return 0;
}

TEST(Connector, MeetsAgainWhereAddressesHadEnded) {
  for (int i = 0; i < 8; ++i) {  // chance decides which of them connects with the other
    SharedBoard board;
    const pid_t first = start_child([&] { return meet_where_addresses_end(*board, 0); });
    const pid_t second = start_child([&] { return meet_where_addresses_end(*board, 1); });
    EXPECT_EQ(end_of_child(first), 0);
    EXPECT_EQ(end_of_child(second), 0);
  }
}
#endif

TEST(Connector, DestroyedContextOfAThreadIsNoticed) {
  Context one = make_context();
  Context other = make_context();
  auto connected = one.connector->connect_all({other.connector->address()}, kTimeoutMs);
  ASSERT_TRUE(connected.is_ok());
  EXPECT_EQ(connected.value()[0]->region().base(), other.region->base()) << "one mapping for both";
  EXPECT_TRUE(connected.value()[0]->is_alive());
  std::byte* base = other.region->base();
  other.connector.reset();
  other.region.reset();
  EXPECT_FALSE(connected.value()[0]->is_alive());
  EXPECT_EQ(base[0], std::byte{0}) << "the mapping is kept alive";
}

}  // namespace
}  // namespace hocket::platform
