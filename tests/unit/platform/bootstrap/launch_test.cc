// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "platform/bootstrap/launch_client.h"
#include "platform/bootstrap/launch_hub.h"
#include "platform/bootstrap/unix_socket.h"

namespace hocket::platform {
namespace {

constexpr int64_t kLongMs = 60'000;  // not reached by a test that passes

int64_t now_ms() { return static_cast<int64_t>(now_ns() / 1'000'000); }

// A launcher's loop in a thread, and ranks as threads.
class Launch {
 public:
  explicit Launch(uint32_t ranks) : hub_(LaunchHub::create(ranks).take()) {
    // Each arena of a thread would keep 64 MiB of addresses, which other tests of this program count.
    mallopt(M_ARENA_MAX, 1);
    for (uint32_t rank = 0; rank < ranks; ++rank) hub_->rank_started(rank, 1000 + static_cast<int>(rank));
    server_ = std::thread([this] { serve(); });
  }
  ~Launch() {
    stop_ = true;
    server_.join();
  }
  LaunchPlace place(uint32_t rank) const { return hub_->place(rank); }
  void end(uint32_t rank) { ended_ = static_cast<int>(rank); }

  void run(uint32_t ranks, const std::function<void(uint32_t)>& body) {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank) threads.emplace_back(body, rank);
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void serve() {
    while (!stop_) {
      std::vector<pollfd> watched;
      hub_->watch(watched);
      poll(watched.data(), watched.size(), 5);
      hub_->serve(now_ms());
      if (const int rank = ended_.exchange(-1); rank >= 0) {
        hub_->rank_ended(static_cast<uint32_t>(rank), "has ended with exit code 0", now_ms());
      }
    }
  }

  std::unique_ptr<LaunchHub> hub_;
  std::atomic<bool> stop_{false};  // the test tells the server; nothing else is ordered by it
  std::atomic<int> ended_{-1};     // likewise
  std::thread server_;
};

std::vector<std::byte> block_of(uint32_t rank, size_t bytes) {
  std::vector<std::byte> block(bytes);
  for (size_t i = 0; i < bytes; ++i) block[i] = static_cast<std::byte>(rank * 31 + i * 7);
  return block;
}

void expect_all(LaunchClient& client, uint32_t rank, uint32_t ranks, size_t bytes) {
  std::vector<std::byte> all(bytes * ranks);
  const Status status = client.allgather(block_of(rank, bytes), all.data());
  ASSERT_TRUE(status.is_ok()) << status.message();
  for (uint32_t other = 0; other < ranks; ++other) {
    EXPECT_EQ(std::memcmp(all.data() + other * bytes, block_of(other, bytes).data(), bytes), 0) << other;
  }
}

TEST(LaunchPlace, SurvivesBeingText) {
  LaunchPlace place{3, 17, {0x1, 0xfedcba9876543210}, {0x0123456789abcdef, 0}};
  const Result<LaunchPlace> read = parse_launch_place(to_text(place));
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_EQ(to_text(read.value()), to_text(place));
  EXPECT_EQ(to_text(place).substr(0, 5), "3/17:");
}

TEST(LaunchPlace, RefusesEveryDamagedText) {
  const std::string good = to_text(LaunchPlace{1, 2, {5, 6}, {7, 8}});
  ASSERT_TRUE(parse_launch_place(good).is_ok());
  for (const std::string& bad :
       {std::string("1"), std::string("/"), std::string("1/2"), "2" + good.substr(1), "-1" + good.substr(1),
        "1/0" + good.substr(3), good + "0", good + ":", "1/99999999" + good.substr(3), " " + good}) {
    const Result<LaunchPlace> read = parse_launch_place(bad);
    ASSERT_FALSE(read.is_ok()) << bad;
    EXPECT_EQ(read.status().code(), Code::kInvalidArgument);
    EXPECT_NE(std::string(read.status().message()).find("HOCKET_RUN=" + bad), std::string::npos);
  }
  for (size_t length = 1; length < good.size(); ++length) {
    EXPECT_FALSE(parse_launch_place(good.substr(0, length)).is_ok()) << length;
  }
}

TEST(LaunchHub, GathersShortAndLongBlocksInManyRounds) {
  for (const uint32_t ranks : {1u, 2u, 5u, 16u}) {
    Launch launch(ranks);
    launch.run(ranks, [&](uint32_t rank) {
      auto client = LaunchClient::join(launch.place(rank), kLongMs);
      ASSERT_TRUE(client.is_ok()) << client.status().message();
      for (const size_t bytes : {size_t{1}, size_t{700}, size_t{32768}, size_t{100'001}, size_t{8}}) {
        expect_all(*client.value(), rank, ranks, bytes);
      }
    });
  }
}

TEST(LaunchHub, RanksMeetAgainAndAgain) {
  constexpr uint32_t kRanks = 3;
  Launch launch(kRanks);
  launch.run(kRanks, [&](uint32_t rank) {
    for (int time = 0; time < 20; ++time) {
      auto client = LaunchClient::join(launch.place(rank), kLongMs);
      ASSERT_TRUE(client.is_ok()) << client.status().message();
      expect_all(*client.value(), rank, kRanks, 40);
    }
  });
}

TEST(LaunchHub, ARankThatEndsBeforeItComesFailsAllThatWaitAndThoseThatComeLater) {
  constexpr uint32_t kRanks = 4;
  Launch launch(kRanks);
  std::atomic<uint32_t> failed{0};
  launch.run(kRanks, [&](uint32_t rank) {
    if (rank == 2) return launch.end(2);
    if (rank == 3) {
      while (failed < 2) usleep(1000);  // late on purpose
    }
    auto client = LaunchClient::join(launch.place(rank), kLongMs);
    ASSERT_TRUE(client.is_ok()) << client.status().message();
    std::vector<std::byte> all(8 * kRanks);
    for (int twice = 0; twice < 2; ++twice) {
      const Status status = client.value()->allgather(block_of(rank, 8), all.data());
      EXPECT_EQ(status.code(), Code::kPeerFailed) << status.message();
      EXPECT_NE(std::string(status.message()).find("rank 2 (process 1002) has ended with exit code 0"),
                std::string::npos)
          << status.message();
    }
    ++failed;
  });
  EXPECT_EQ(failed, 3u);
}

TEST(LaunchHub, ARankThatLeavesBetweenRoundsFailsTheOthers) {
  constexpr uint32_t kRanks = 3;
  Launch launch(kRanks);
  launch.run(kRanks, [&](uint32_t rank) {
    auto client = LaunchClient::join(launch.place(rank), kLongMs);
    ASSERT_TRUE(client.is_ok()) << client.status().message();
    expect_all(*client.value(), rank, kRanks, 8);
    if (rank == 1) return;
    std::vector<std::byte> all(8 * kRanks);
    const Status status = client.value()->allgather(block_of(rank, 8), all.data());
    EXPECT_EQ(status.code(), Code::kPeerFailed);
    EXPECT_NE(std::string(status.message()).find("rank 1"), std::string::npos) << status.message();
  });
}

TEST(LaunchHub, WhoComesTooLateIsNamedToThoseWhoWaited) {
  constexpr uint32_t kRanks = 3;
  Launch launch(kRanks);
  std::atomic<int> waiting{2};
  launch.run(kRanks, [&](uint32_t rank) {
    while (rank == 1 && waiting > 0) usleep(1000);
    auto client = LaunchClient::join(launch.place(rank), rank == 1 ? kLongMs : 50);
    ASSERT_TRUE(client.is_ok()) << client.status().message();
    std::vector<std::byte> all(8 * kRanks);
    const Status status = client.value()->allgather(block_of(rank, 8), all.data());
    EXPECT_EQ(status.code(), Code::kTimeout) << status.message();
    EXPECT_NE(std::string(status.message()).find("rank 1 (process 1001) did not come"), std::string::npos)
        << status.message();
    --waiting;
  });
}

TEST(LaunchHub, StrangersAreRefusedAndDisturbNobody) {
  Launch launch(2);
  LaunchPlace forged = launch.place(0);
  forged.key[1] ^= 1;
  auto stranger = LaunchClient::join(forged, kLongMs);
  ASSERT_TRUE(stranger.is_ok()) << stranger.status().message();
  std::byte all[16];
  const Status status = stranger.value()->allgather(block_of(0, 8), all);
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  EXPECT_NE(std::string(status.message()).find("HOCKET_RUN"), std::string::npos) << status.message();

  // Bytes that are no greeting, and a connection that never says anything.
  int babbler = -1;
  int silent = -1;
  ASSERT_TRUE(connect_abstract(launch_socket_name(forged), &babbler).is_ok());
  ASSERT_TRUE(connect_abstract(launch_socket_name(forged), &silent).is_ok());
  ASSERT_EQ(send(babbler, "good morning", 12, MSG_NOSIGNAL), 12);
  launch.run(2, [&](uint32_t rank) {
    auto client = LaunchClient::join(launch.place(rank), kLongMs);
    ASSERT_TRUE(client.is_ok()) << client.status().message();
    expect_all(*client.value(), rank, 2, 100);
  });
  close(babbler);
  close(silent);
}

TEST(LaunchHub, DifferentAmountsAreAnErrorOnAll) {
  Launch launch(2);
  launch.run(2, [&](uint32_t rank) {
    auto client = LaunchClient::join(launch.place(rank), kLongMs);
    ASSERT_TRUE(client.is_ok()) << client.status().message();
    std::byte all[64];
    EXPECT_EQ(client.value()->allgather(block_of(rank, rank == 0 ? 8 : 16), all).code(), Code::kMismatch);
  });
}

TEST(LaunchClient, SaysWhenThereIsNoLauncher) {
  LaunchPlace place;
  {
    Launch launch(2);
    place = launch.place(1);
  }
  auto client = LaunchClient::join(place, kLongMs);
  ASSERT_FALSE(client.is_ok());
  EXPECT_EQ(client.status().code(), Code::kPeerFailed);
  EXPECT_NE(std::string(client.status().message()).find("hocket run"), std::string::npos) << client.status().message();
}

TEST(LaunchClient, FailsWhenTheLauncherEndsWhileItWaits) {
  auto launch = std::make_unique<Launch>(2);
  auto client = LaunchClient::join(launch->place(0), kLongMs);
  ASSERT_TRUE(client.is_ok());
  std::thread waits([&] {
    std::byte all[16];
    EXPECT_EQ(client.value()->allgather(block_of(0, 8), all).code(), Code::kPeerFailed);
  });
  launch.reset();
  waits.join();
}

}  // namespace
}  // namespace hocket::platform
