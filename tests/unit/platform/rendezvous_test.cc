// SPDX-License-Identifier: BSD-3-Clause
#include "platform/rendezvous.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "child_process.h"
#include "platform/hello.h"
#include "platform/unix_socket.h"

namespace hocket::platform {
namespace {

constexpr int kMostRanks = 160;
constexpr int64_t kPatienceMs = 60'000;

// Stands for the bootstrap: an all-gather of addresses and some counters, in memory shared by forked ranks.
struct Board {
  Address addresses[kMostRanks];
  uint64_t offsets[kMostRanks];
  std::atomic<int> published{0};
  std::atomic<int> connected{0};
  std::atomic<int> go_on{0};
};

class SharedBoard {
 public:
  SharedBoard() {
    void* at = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board_ = new (at) Board;
  }
  ~SharedBoard() { munmap(board_, sizeof(Board)); }
  Board* operator->() { return board_; }
  Board& operator*() { return *board_; }

 private:
  Board* board_;
};

void wait_for(const std::atomic<int>& counter, int value) {
  while (counter.load() < value) usleep(200);
}

struct Context {
  std::shared_ptr<SharedRegion> region;
  std::unique_ptr<Rendezvous> rendezvous;
  uint64_t* word = nullptr;
};

Context make_context() {
  Context context;
  context.region = SharedRegion::create(size_t{4} << 20).take();
  context.word = static_cast<uint64_t*>(context.region->allocate(64));
  context.rendezvous = Rendezvous::create(context.region).take();
  return context;
}

Context publish(Board& board, int rank) {
  Context context = make_context();
  *context.word = 1000 + static_cast<uint64_t>(rank);
  board.addresses[rank] = context.rendezvous->address();
  board.offsets[rank] = context.region->offset_of(context.word);
  ++board.published;
  return context;
}

// 0 if this rank sees what every other has written into its own region, and the other way round.
int connect_and_check(Board& board, int rank, int ranks) {
  Context context = publish(board, rank);
  wait_for(board.published, ranks);
  const std::vector<Address> addresses(board.addresses, board.addresses + ranks);
  auto connected = context.rendezvous->connect_all(addresses, kPatienceMs);
  if (!connected.is_ok()) {
    fprintf(stderr, "rank %d: %s\n", rank, connected.status().message());
    return 1;
  }
  for (int other = 0; other < ranks; ++other) {
    const auto& peer = connected.value()[static_cast<size_t>(other)];
    if ((peer == nullptr) != (other == rank)) return 2;
    if (peer == nullptr) continue;
    auto* word = reinterpret_cast<std::atomic<uint64_t>*>(peer->base() + board.offsets[other]);
    if (word->fetch_add(1'000'000) % 1'000'000 != 1000 + static_cast<uint64_t>(other)) return 3;
    if (!peer->is_alive()) return 4;
  }
  ++board.connected;
  wait_for(board.connected, ranks);
  const auto expected = 1000 + static_cast<uint64_t>(rank) + 1'000'000 * static_cast<uint64_t>(ranks - 1);
  if (*context.word != expected) return 5;
  auto again = context.rendezvous->connect_all(addresses, kPatienceMs);
  if (!again.is_ok() || again.value() != connected.value()) return 6;
  ++board.connected;
  wait_for(board.connected, 2 * ranks);  // nobody goes while others still look at it
  return 0;
}

class RendezvousOf : public testing::TestWithParam<int> {};

TEST_P(RendezvousOf, ProcessesSeeEachOthersMemory) {
  const int ranks = GetParam();
  SharedBoard board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.push_back(start_child([&] { return connect_and_check(*board, rank, ranks); }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST_P(RendezvousOf, ThreadsSeeEachOthersMemory) {
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

INSTANTIATE_TEST_SUITE_P(Ranks, RendezvousOf, testing::Values(1, 2, 3, 16, 64, 128), testing::PrintToStringParamName());

TEST(Rendezvous, ThreadsOfSeveralProcessesMix) {
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

TEST(Rendezvous, OverlappingGroupsInAnyOrderOfArrival) {
  // Rank 0 meets the others one group after the other; those of later groups knock before they are asked for.
  constexpr int kRanks = 6;
  SharedBoard board;
  std::vector<pid_t> children;
  for (int rank = 0; rank < kRanks; ++rank) {
    children.push_back(start_child([&] {
      Context context = publish(*board, rank);
      wait_for(board->published, kRanks);
      int failures = 0;
      for (int other = kRanks - 1; other > 0 && rank == 0; --other) {
        usleep(3000);
        failures += !context.rendezvous->connect_all({board->addresses[other]}, kPatienceMs).is_ok();
      }
      if (rank != 0) failures += !context.rendezvous->connect_all({board->addresses[0]}, kPatienceMs).is_ok();
      ++board->connected;
      wait_for(board->connected, kRanks);
      return failures;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of_child(child), 0);
}

TEST(Rendezvous, DescriptorLimitIsRaisedWhenNeeded) {
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

TEST(Rendezvous, TooFewDescriptorsAreAClearError) {
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
      auto connected = context.rendezvous->connect_all(addresses, kPatienceMs);
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
      if (!own.rendezvous->connect_all({board->addresses[0]}, kPatienceMs).is_ok()) return 99;
      ++board->connected;
      return then(*board, own);
    });
    context = publish(*board, 0);
    wait_for(board->published, 2);
    auto connected = context.rendezvous->connect_all({board->addresses[1]}, kPatienceMs);
    EXPECT_TRUE(connected.is_ok()) << connected.status().message();
    peer = connected.value()[0];
  }
};

TEST(Rendezvous, KilledPeerIsNoticed) {
  Pair pair([](Board&, Context&) {
    pause();
    return 0;
  });
  wait_for(pair.board->connected, 1);
  EXPECT_TRUE(pair.peer->is_alive());
  kill(pair.child, SIGKILL);
  EXPECT_EQ(end_of_child(pair.child), 1000 + SIGKILL);
  expect_death_is_noticed(*pair.peer);
  auto again = pair.context.rendezvous->connect_all({pair.board->addresses[1]}, kPatienceMs);
  ASSERT_FALSE(again.is_ok());
  EXPECT_EQ(again.status().code(), Code::kPeerFailed);
  // Its memory stays readable.
  const auto* word = reinterpret_cast<const uint64_t*>(pair.peer->base() + pair.board->offsets[1]);
  EXPECT_EQ(*word, 1001U);
}

TEST(Rendezvous, KilledPeerIsNoticedThoughItsForkedChildLivesOn) {
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

TEST(Rendezvous, DestroyedContextIsNoticedThoughItsProcessLives) {
  Pair pair([](Board& board, Context& own) {
    wait_for(board.go_on, 1);
    own.rendezvous.reset();
    wait_for(board.go_on, 2);
    return 0;
  });
  EXPECT_TRUE(pair.peer->is_alive());
  pair.board->go_on = 1;
  expect_death_is_noticed(*pair.peer);
  pair.board->go_on = 2;
  EXPECT_EQ(end_of_child(pair.child), 0);
}

TEST(Rendezvous, ForkedChildDoesNotEndItsParentsConnections) {
  Pair pair([](Board& board, Context& own) {
    const int grandchild = in_child([&] {
      const bool refused = !own.rendezvous->connect_all({board.addresses[0]}, kPatienceMs).is_ok();
      own.rendezvous.reset();
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

TEST(Rendezvous, DestroyedContextOfAThreadIsNoticed) {
  Context one = make_context();
  Context other = make_context();
  auto connected = one.rendezvous->connect_all({other.rendezvous->address()}, kPatienceMs);
  ASSERT_TRUE(connected.is_ok());
  EXPECT_EQ(connected.value()[0]->base(), other.region->base()) << "one mapping for both";
  EXPECT_TRUE(connected.value()[0]->is_alive());
  std::byte* base = other.region->base();
  other.rendezvous.reset();
  other.region.reset();
  EXPECT_FALSE(connected.value()[0]->is_alive());
  EXPECT_EQ(base[0], std::byte{0}) << "the mapping is kept alive";
}

// An address that nobody in this process has, though it can be connected with.
Address stranger(const Address& like) {
  Address address = like;
  std::random_device random;
  address.identity[0] = random();
  return address;
}

TEST(Rendezvous, AbsentPeerIsATimeoutThatNamesItsProcess) {
  Context context = make_context();
  Address absent = stranger(context.rendezvous->address());
  absent.process = 4711;
  // It exists, so that it isn't taken for dead, and says nothing.
  char name[48];
  std::snprintf(name, sizeof(name), "hocket-%016lx%016lx", absent.identity[0], absent.identity[1]);
  auto silent = listen_abstract(name);
  ASSERT_TRUE(silent.is_ok());
  auto connected = context.rendezvous->connect_all({absent}, 300);
  ASSERT_FALSE(connected.is_ok());
  EXPECT_EQ(connected.status().code(), Code::kTimeout);
  EXPECT_NE(std::string(connected.status().message()).find("4711"), std::string::npos);
  close(silent.value());
}

TEST(Rendezvous, PeerThatDiedBeforehandIsKnownToHaveEnded) {
  Context context = make_context();
  for (int i = 0; i < 8; ++i) {  // some we would connect with, others should connect with us
    auto connected = context.rendezvous->connect_all({stranger(context.rendezvous->address())}, kPatienceMs);
    ASSERT_FALSE(connected.is_ok());
    EXPECT_EQ(connected.status().code(), Code::kPeerFailed);
  }
}

TEST(Rendezvous, SaysWhyAnAddressIsOutOfReach) {
  Context context = make_context();
  Address other = stranger(context.rendezvous->address());
  EXPECT_EQ(context.rendezvous->why_unreachable(other), "");
  for (auto field : {&Address::boot_hash, &Address::network_namespace}) {
    Address wrong = other;
    wrong.*field += 1;
    EXPECT_NE(context.rendezvous->why_unreachable(wrong), "");
    EXPECT_EQ(context.rendezvous->connect_all({wrong}, 10).status().code(), Code::kNotSupported);
  }
  other.user += 1;
  EXPECT_NE(context.rendezvous->why_unreachable(other), "");
}

TEST(Rendezvous, IntrudersAreDroppedAndTheRightPeerStillComes) {
  SharedBoard board;
  Context context = publish(*board, 0);
  const Address own = context.rendezvous->address();
  char name[48];
  std::snprintf(name, sizeof(name), "hocket-%016lx%016lx", own.identity[0], own.identity[1]);
  std::vector<int> intruders;
  auto intrude = [&](const void* bytes, size_t length, bool with_memory) {
    int socket = -1;
    ASSERT_EQ(connect_abstract(name, &socket).value(), Progress::kDone);
    const std::span<const std::byte> message(static_cast<const std::byte*>(bytes), length);
    if (with_memory) {
      ASSERT_EQ(send_with_descriptor(socket, message, context.region->descriptor()).value(), Progress::kDone);
    } else {
      ASSERT_EQ(write(socket, bytes, length), static_cast<ssize_t>(length));
    }
    intruders.push_back(socket);
  };
  const pid_t child = start_child([&] { return connect_and_check(*board, 1, 2); });
  wait_for(board->published, 2);
  Hello hello;
  std::memcpy(hello.identity, board->addresses[1].identity, sizeof(hello.identity));
  std::memcpy(hello.nonce, own.nonce, sizeof(hello.nonce));
  hello.limit = 1 << 20;
  intrude(&hello, sizeof(hello), false);  // all right but without memory
  hello.nonce[1] ^= 1;
  intrude(&hello, sizeof(hello), true);  // a wrong nonce
  intrude(&hello, 7, true);
  const std::vector<char> noise(5000, 'x');
  intrude(noise.data(), noise.size(), true);
  auto connected = context.rendezvous->connect_all({own, board->addresses[1]}, kPatienceMs);
  ASSERT_TRUE(connected.is_ok()) << connected.status().message();
  auto* word = reinterpret_cast<std::atomic<uint64_t>*>(connected.value()[1]->base() + board->offsets[1]);
  EXPECT_EQ(word->fetch_add(1'000'000), 1001U);
  ++board->connected;
  wait_for(board->connected, 2);
  ++board->connected;
  EXPECT_EQ(end_of_child(child), 0);
  // Greets once more, so that those that came after the peer are heard too.
  EXPECT_EQ(context.rendezvous->connect_all({stranger(own)}, kPatienceMs).status().code(), Code::kPeerFailed);
  for (const int intruder : intruders) {
    pollfd watched{intruder, POLLRDHUP, 0};
    EXPECT_EQ(poll(&watched, 1, 0), 1) << "must have been hung up on";
    close(intruder);
  }
}

TEST(Hello, OnlyWholeAndSensibleOnesAreTaken) {
  Hello good;
  good.limit = 1 << 20;
  const auto bytes_of = [](const Hello& hello) { return std::as_bytes(std::span(&hello, 1)); };
  EXPECT_TRUE(parse_hello(bytes_of(good)).is_ok());
  EXPECT_FALSE(parse_hello({}).is_ok());
  for (size_t length = 0; length < sizeof(Hello); ++length) {
    EXPECT_FALSE(parse_hello(bytes_of(good).first(length)).is_ok());
  }
  for (auto spoil : {+[](Hello& h) { h.magic ^= 1; }, +[](Hello& h) { ++h.version; }, +[](Hello& h) { h.limit = 0; },
                     +[](Hello& h) { h.limit = 4097; }, +[](Hello& h) { h.limit = UINT64_MAX; },
                     +[](Hello& h) { h.reserved = 1; }}) {
    Hello bad = good;
    spoil(bad);
    EXPECT_FALSE(parse_hello(bytes_of(bad)).is_ok());
  }
}

}  // namespace
}  // namespace hocket::platform
