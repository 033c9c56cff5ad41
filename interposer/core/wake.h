// SPDX-License-Identifier: BSD-3-Clause
// This rank on the board of its node (platform/waiting/wake_board.h): ranks that wait in the MPI or in hocket sleep
// there, and a rank that has something for one of them rings it, so that it polls the MPI.
//
// Thread safety: any thread, between open_board() and close_board(), which are called in MPI_Init and MPI_Finalize.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "platform/waiting/wake_board.h"

namespace hocket::interposer {

namespace internal {
inline constinit std::atomic<uint32_t> none_waiting{0};
// How many ranks of the node want to be rung. Release: a job of sessions begins beside calls of other threads, which
// load it with acquire and find the board.
inline constinit std::atomic<const std::atomic<uint32_t>*> waiting{&none_waiting};
}  // namespace internal

// For the other ranks, which get it in MPI_Init.
platform::WakeAddress wake_address();
// `ranks`: of the job, by rank; those on other nodes have no key.
void open_board(const std::vector<platform::WakeAddress>& ranks, int own);
void close_board();
// In a child of fork(), which has its parent's mappings, and no place on the board.
void forget_board();
// nullptr: there is none.
platform::WakeBoard* wake_board();

// Whether a rank of this node may have to be rung. Relaxed: a rank that begins to wait just now polls once more first.
inline bool any_rank_waits() {
  return internal::waiting.load(std::memory_order_acquire)->load(std::memory_order_relaxed) != 0;
}
// By its rank in the job; no effect where it is on another node, or none.
void ring_rank(int rank);
void ring_node();
// Before something that any rank may have to poll for.
inline void ring_waiting() {
  if (any_rank_waits()) [[unlikely]]
    ring_node();
}

}  // namespace hocket::interposer
