// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a communicator as threads of this process, on nodes that share no memory with each other: what is under
// test here stands below the C API.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/foreign_wire.h"
#include "communicator/communicator.h"
#include "support/wire.h"

namespace hocket::communicator {

// An all-gather among threads.
class ThreadsBootstrap {
 public:
  explicit ThreadsBootstrap(uint32_t size) : size_(size), barrier_(size) {}
  struct Seat {
    ThreadsBootstrap* all;
    uint32_t rank;
  };
  static int allgather(const void* send, void* receive, size_t bytes, void* user) {
    const Seat& seat = *static_cast<Seat*>(user);
    ThreadsBootstrap& all = *seat.all;
    if (seat.rank == 0) all.memory_.resize(bytes * all.size_);
    all.barrier_.arrive_and_wait();
    std::memcpy(all.memory_.data() + seat.rank * bytes, send, bytes);
    all.barrier_.arrive_and_wait();
    std::memcpy(receive, all.memory_.data(), bytes * all.size_);
    all.barrier_.arrive_and_wait();
    return 0;
  }

 private:
  uint32_t size_;
  std::barrier<> barrier_;
  std::vector<std::byte> memory_;
};

struct RanksOptions {
  uint32_t ranks = 2;
  uint32_t ranks_a_node = 1;
  carriers::EngineTypes (*engines)() = carriers::all_engines;
  // Of a rank that is to be different.
  std::function<void(uint32_t rank, ContextOptions& wanted)> change = [](uint32_t, ContextOptions&) {};
};

// Runs `body` on each rank with what set-up has given it.
inline void run_ranks(const RanksOptions& options, test::Network& network,
                      const std::function<void(uint32_t, Result<std::unique_ptr<Communicator>>)>& body) {
  ThreadsBootstrap bootstrap(options.ranks);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < options.ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ContextOptions wanted;
      wanted.memory_limit = size_t{64} << 20;
      wanted.wire = c_api::foreign_wire(network.wire_of(rank)).take();
      wanted.node = 1 + rank / options.ranks_a_node;
      wanted.engines = options.engines;
      options.change(rank, wanted);
      Result<std::unique_ptr<Context>> context = Context::create(wanted);
      ASSERT_TRUE(context.is_ok()) << context.status().message();
      ThreadsBootstrap::Seat seat{&bootstrap, rank};
      const Bootstrap own{rank, options.ranks, ThreadsBootstrap::allgather, &seat};
      body(rank, Communicator::create(*context.value(), own));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hocket::communicator
