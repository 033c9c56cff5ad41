// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a benchmark as forked processes of this machine, without any MPI.
//
// Thread safety: for processes with one thread, and one of each rank.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "bench/bench.h"
#include "bench/meeting_point.h"

namespace hocket::command {

// What the ranks share: made by the parent, inherited by the children. Not hocket's memory: hocket is what is measured.
class SharedBoard {
 public:
  explicit SharedBoard(int ranks);
  ~SharedBoard();
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;

  bool ok() const { return meeting_point_ != nullptr; }
  int ranks() const { return ranks_; }
  void synchronize();
  // A place of kPlaceBytes for each rank, written by it between two synchronisations.
  static constexpr size_t kPlaceBytes = 8192;
  std::byte* place(int rank) { return places_ + static_cast<size_t>(rank) * kPlaceBytes; }

 private:
  bench::MeetingPoint* meeting_point_ = nullptr;
  std::byte* places_ = nullptr;
  size_t bytes_ = 0;
  int ranks_ = 0;
  bool oversubscribed_ = false;
};

class LocalWorld : public bench::World {
 public:
  LocalWorld(SharedBoard& board, int rank)
      : board_(board), rank_(rank), placement_(static_cast<uint32_t>(board.ranks())) {}
  int rank() const override { return rank_; }
  int size() const override { return board_.ranks(); }
  const schedule::Nodes& placement() const override { return placement_; }
  void synchronize() override { board_.synchronize(); }
  void maximum(std::span<double> values) override;
  void allgather(const void* send, void* receive, size_t bytes) override;

 private:
  SharedBoard& board_;
  int rank_;
  schedule::Nodes placement_;
};

// Runs `body(rank)` in that many forked processes and gives the first exit code that isn't 0. When one fails or dies,
// the others are ended: they would wait for it forever.
int fork_ranks(int ranks, const std::function<int(int)>& body);

// Processes that only burn time, ended with the one that started them.
void start_load(int processes);

}  // namespace hocket::command
