// SPDX-License-Identifier: BSD-3-Clause
// Contexts for tests, and a board on which ranks (forked processes or threads) tell each other their addresses.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "platform/bootstrap/connector.h"

namespace hocket::platform {

inline constexpr int kMostRanks = 160;
inline constexpr int64_t kTimeoutMs = 60'000;

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

inline void wait_for(const std::atomic<int>& counter, int value) {
  while (counter.load() < value) usleep(200);
}

struct Context {
  std::shared_ptr<SharedRegion> region;
  std::unique_ptr<Connector> connector;
  uint64_t* word = nullptr;
};

inline Context make_context() {
  Context context;
  context.region = SharedRegion::create(size_t{4} << 20).take();
  context.word = static_cast<uint64_t*>(context.region->allocate(64));
  context.connector = Connector::create(context.region).take();
  return context;
}

inline Context publish(Board& board, int rank) {
  Context context = make_context();
  *context.word = 1000 + static_cast<uint64_t>(rank);
  board.addresses[rank] = context.connector->address();
  board.offsets[rank] = context.region->offset_of(context.word);
  ++board.published;
  return context;
}

// 0 if this rank sees what every other has written into its own region, and the other way round.
inline int connect_and_check(Board& board, int rank, int ranks) {
  Context context = publish(board, rank);
  wait_for(board.published, ranks);
  const std::vector<Address> addresses(board.addresses, board.addresses + ranks);
  auto connected = context.connector->connect_all(addresses, kTimeoutMs);
  if (!connected.is_ok()) {
    fprintf(stderr, "rank %d: %s\n", rank, connected.status().message());
    return 1;
  }
  for (int other = 0; other < ranks; ++other) {
    const auto& peer = connected.value()[static_cast<size_t>(other)];
    if ((peer == nullptr) != (other == rank)) return 2;
    if (peer == nullptr) continue;
    auto* word = reinterpret_cast<std::atomic<uint64_t>*>(peer->region().base() + board.offsets[other]);
    if (word->fetch_add(1'000'000) % 1'000'000 != 1000 + static_cast<uint64_t>(other)) return 3;
    if (!peer->is_alive()) return 4;
  }
  ++board.connected;
  wait_for(board.connected, ranks);
  const auto expected = 1000 + static_cast<uint64_t>(rank) + 1'000'000 * static_cast<uint64_t>(ranks - 1);
  if (*context.word != expected) return 5;
  auto again = context.connector->connect_all(addresses, kTimeoutMs);
  if (!again.is_ok() || again.value() != connected.value()) return 6;
  ++board.connected;
  wait_for(board.connected, 2 * ranks);  // nobody goes while others still look at it
  return 0;
}

}  // namespace hocket::platform
