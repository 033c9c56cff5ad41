// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a measurement and its parent share, whatever has started the ranks: a file that all map.
//
// Thread safety: one thread of each process; members that are atomic are for all of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "bench/lab/driver.h"
#include "lab/words.h"

namespace hocket::lab_bench {

inline constexpr uint32_t kMostRanks = lab::kMostNodes;

// What a round of Timing::kOverlap is: its number modulo kOverlapParts.
enum class OverlapPart : uint8_t { kCall, kComputation, kBoth };
inline constexpr uint32_t kOverlapParts = 3;

// Grows; a process that waits for it sleeps.
class Counter {
 public:
  // `round`: only multiples of it are waited for, so that no process is woken for what lies between.
  void add(uint32_t round = 1);
  void set(uint32_t value);
  // Acquire: pairs with add() and set(), and what was written before them.
  uint32_t value() const { return value_.load(std::memory_order_acquire); }
  // Until it is `wanted` or more, or `has_failed` isn't 0. As a futex has it, numbers turn over.
  void wait_for(uint32_t wanted, const std::atomic<uint32_t>& has_failed) const;

 private:
  void wake() const;
  std::atomic<uint32_t> value_;
};

// Packets and bytes that all nodes have sent, and the root's alone.
struct Traffic {
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t root_packets = 0;
  uint64_t root_bytes = 0;
};

struct Board {
  Task task;
  std::atomic<uint32_t> come;
  std::atomic<uint32_t> has_failed;
  char problem[400];
  Card cards[kMostRanks];
  std::atomic<uint64_t> started[kMostRanks];  // barriers
  uint64_t begin_ns[kMostRanks];              // of all calls
  uint64_t end_ns[kMostRanks];
  // By rank 0, before the calls that are measured and after them.
  uint64_t ticks[2];
  Traffic traffic[2];
  // A rank that can't read it has its parent do so: each grows by one for an answer.
  Counter traffic_asked;
  Counter traffic_reported;
  Traffic reported_traffic;
  // Calls one after the other: which may begin, how many ranks have come to them, and have been given something.
  Counter admitted;
  std::atomic<uint32_t> entered;
  Counter given;
  // Calls before which all meet: how many ranks have come there, and which call they may go on to, and when.
  std::atomic<uint32_t> arrived;
  Counter released;
  uint64_t release_ns;
  // Of a call, by ranks: how long it was in it; of those that are measured one by one, when it was done.
  uint64_t times[];

  uint64_t& time(uint32_t rank, uint32_t round) { return times[uint64_t{rank} * task.rounds + round]; }
  uint64_t time(uint32_t rank, uint32_t round) const { return times[uint64_t{rank} * task.rounds + round]; }
  // Behind them: when a call that is measured was started by the last.
  uint64_t& beginning(uint32_t round) { return time(task.ranks, round); }
  uint64_t beginning(uint32_t round) const { return time(task.ranks, round); }

  bool is_broken() const { return has_failed.load() != 0; }
  // The first one to fail says why.
  void fail(const std::string& why);
};

class SharedBoard {
 public:
  static Result<SharedBoard> make(const Task& task);
  // As a file in a folder that others take away in the end.
  static Result<SharedBoard> make(const Task& task, const std::string& path);
  static Result<SharedBoard> open(const std::string& path);
  ~SharedBoard();
  SharedBoard(SharedBoard&& other) noexcept : board_(other.board_), bytes_(other.bytes_) { other.board_ = nullptr; }
  SharedBoard& operator=(SharedBoard&&) = delete;
  Board& operator*() const { return *board_; }
  Board* operator->() const { return board_; }

 private:
  static Result<SharedBoard> map(int file, size_t bytes);
  SharedBoard(Board* board, size_t bytes) : board_(board), bytes_(bytes) {}

  Board* board_;
  size_t bytes_;
};

}  // namespace hocket::lab_bench
