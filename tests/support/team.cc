// SPDX-License-Identifier: BSD-3-Clause
#include "support/team.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "selection/choice.h"
#include "support/wire.h"

namespace hocket::test {

struct Meeting;

struct Seat {
  Meeting* meetings = nullptr;  // of the team: the whole, then one a colour
  Meeting* meeting = nullptr;   // this seat's
  int rank = 0;
  int size = 0;
};

// Where ranks all-gather through memory that all of them see, threads or forked processes alike.
constexpr size_t kRoomBytes = 1 << 20;  // for what one all-gather brings
struct Meeting {
  std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> round{0};
  alignas(64) std::byte room[kRoomBytes];

  void barrier(uint32_t size) {
    const uint32_t now = round.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size) {
      arrived.store(0, std::memory_order_relaxed);
      round.store(now + 1, std::memory_order_release);
    } else {
      while (round.load(std::memory_order_acquire) == now) sched_yield();
    }
  }
};

namespace {

constexpr int kMeetings = 1 + SplitBootstrap::kColours;

int allgather(const void* send, void* receive, size_t bytes, void* user) {
  const Seat& seat = *static_cast<Seat*>(user);
  const auto size = static_cast<size_t>(seat.size);
  if (bytes * size > kRoomBytes) return 1;
  std::memcpy(seat.meeting->room + static_cast<size_t>(seat.rank) * bytes, send, bytes);
  seat.meeting->barrier(static_cast<uint32_t>(seat.size));
  std::memcpy(receive, seat.meeting->room, bytes * size);
  seat.meeting->barrier(static_cast<uint32_t>(seat.size));
  return 0;
}

void run_rank(Meeting* meetings, int rank, int size, bool bare, const Body& body, Network* network = nullptr) {
  Seat seat{meetings, meetings, rank, size};
  Rank mine;
  mine.rank = rank;
  mine.size = size;
  mine.bootstrap = {rank, size, allgather, &seat};
  if (bare) {
    body(mine);
    return;
  }
  hocket_context_options_t options{};
  options.struct_size = sizeof options;
  hocket_wire_t wire{};
  if (network != nullptr) {
    wire = network->wire_of(static_cast<uint32_t>(rank));
    options.wire = &wire;
    options.node = 1 + team_nodes(size)[static_cast<size_t>(rank)];
  }
  ASSERT_EQ(hocket_context_create(&options, &mine.context), HOCKET_OK) << hocket_error_text();
  ASSERT_EQ(hocket_comm_create(mine.context, &mine.bootstrap, &mine.comm), HOCKET_OK) << hocket_error_text();
  body(mine);
  EXPECT_EQ(hocket_comm_destroy(mine.comm), HOCKET_OK) << hocket_error_text();
  EXPECT_EQ(hocket_context_destroy(mine.context), HOCKET_OK) << hocket_error_text();
}

int run_forked(int size, bool bare, const Body& body) {
  constexpr size_t kBytes = kMeetings * sizeof(Meeting);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return size;
  auto* meetings = new (memory) Meeting[kMeetings];
  std::vector<pid_t> children;
  const pid_t parent = getpid();
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      run_rank(meetings, rank, size, bare, body);
      fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed;
  }
  munmap(memory, kBytes);
  return failed;
}

}  // namespace

bool has_several_nodes() { return std::getenv("TEST_NODES") != nullptr; }

bool has_multicast() {
  const char* given = std::getenv("HOCKET_MULTICAST");
  return given != nullptr && std::strcmp(given, "on") == 0;
}

std::vector<uint64_t> team_nodes(int size) {
  const char* given = std::getenv("TEST_NODES");
  const std::string layout = given == nullptr ? "" : given;
  std::vector<uint64_t> nodes(static_cast<size_t>(size));
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    if (layout == "blocks") nodes[rank] = rank / 2;
    if (layout == "cyclic") nodes[rank] = rank % 2;
    if (layout == "uneven") nodes[rank] = rank * rank % 7 % 3;
    if (layout == "apart") nodes[rank] = rank;
  }
  return nodes;
}

bool serves_team(const algorithms::Algorithm& algorithm, schedule::Collective collective, int size, bool ordered) {
  const schedule::Nodes nodes(team_nodes(size));
  selection::Query query;
  query.collective = collective;
  query.ranks = static_cast<uint32_t>(size);
  query.nodes = &nodes;
  query.bytes = query.element_bytes = schedule::lengths_are_agreed(collective) ? 1 : 0;
  query.commutative = !ordered;
  if (has_multicast()) query.why_no_multicast = {};
  return selection::why_not(query, selection::Spec{&algorithm}).empty();
}

void run_threads(int size, const Body& body) {
  const auto meetings = std::make_unique<Meeting[]>(kMeetings);
  std::unique_ptr<Network> network;
  if (has_several_nodes()) network = std::make_unique<Network>(static_cast<uint32_t>(size), 1);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { run_rank(meetings.get(), rank, size, false, body, network.get()); });
  }
  for (std::thread& thread : threads) thread.join();
  // What is tried on several nodes must have gone over the wire.
  const std::vector<uint64_t> nodes = team_nodes(size);
  if (std::ranges::any_of(nodes, [&](uint64_t node) { return node != nodes[0]; })) {
    EXPECT_GT(network->messages(), 0u);
  }
}

int run_processes(int size, const Body& body) { return run_forked(size, false, body); }
int run_bare_processes(int size, const Body& body) { return run_forked(size, true, body); }

struct SplitBootstrap::Seat : hocket::test::Seat {};

SplitBootstrap::SplitBootstrap(const hocket_bootstrap_t& parent, int colour) : seat_(std::make_shared<Seat>()) {
  std::vector<int> colours(static_cast<size_t>(parent.size));
  parent.allgather(&colour, colours.data(), sizeof colour, parent.user);
  for (int rank = 0; rank < parent.size; ++rank) {
    if (rank == parent.rank) seat_->rank = seat_->size;
    if (colours[static_cast<size_t>(rank)] == colour) ++seat_->size;
  }
  // Each part meets in its own place, since parts gather at different times.
  const auto& above = *static_cast<const hocket::test::Seat*>(parent.user);
  seat_->meetings = above.meetings;
  seat_->meeting = &above.meetings[1 + colour];
  own_ = {seat_->rank, seat_->size, allgather, static_cast<hocket::test::Seat*>(seat_.get())};
}

}  // namespace hocket::test
