// SPDX-License-Identifier: BSD-3-Clause
// A rank of a measurement: makes the board's calls by its driver, and writes down how long they take.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <random>

#include "base/status.h"
#include "bench/lab/board.h"
#include "bench/lab/driver.h"

namespace hocket::lab_bench {

class Rank {
 public:
  // `traffic`: what the nodes have sent; asked of rank 0's only.
  using ReadTraffic = std::function<Result<Traffic>()>;
  Rank(Board& board, uint32_t rank, Driver& driver, ReadTraffic traffic);

  // All of it. Nothing is said of what other ranks have failed in: an error is this rank's own.
  Status live();

 private:
  // All ranks have come this far; false: one has failed.
  bool meet();
  Status read_meters(int which) const;
  // As the task's timing wants it. `is_warm`: times are written down.
  Status make_calls(uint32_t count, bool is_warm);
  Status one_after_another(uint32_t round, bool is_warm);
  Status from_the_last(uint32_t round, bool is_warm);
  Status within_the_call(uint32_t round, bool is_warm);
  Status with_computation(uint32_t round, bool is_warm);
  void settle() const;
  void go_on_together();
  Status begin();
  Status finish();
  Status check_barrier() const;
  Status check_result() const;
  Status check_message(uint64_t call) const;

  Board& board_;
  const Task& task_;
  uint32_t rank_;
  Driver& driver_;
  ReadTraffic traffic_;
  uint32_t calls_ = 0;
  nic_operand operand_{};
  nic_operand result_{};
  std::mt19937_64 dice_;
  uint32_t meetings_ = 0;
};

// This process on one of the machine's cores, all ranks in turn; of the first so many, 0: of all.
void pin(uint32_t rank, uint32_t cores);

}  // namespace hocket::lab_bench
