// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/waits.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

#include "shim/communicators/communicators.h"
#include "shim/underneath/handle_map.h"

namespace hocket::interposer {
namespace {

struct Windows {
  std::mutex mutex;
  std::unordered_set<uint64_t> open;    // by handle: the MPI is not asked for others, which it would report twice
  std::atomic<uint64_t> generation{1};  // goes up when one is freed, as its handle may be used again. Relaxed
};
// Never destroyed: threads of the program may outlive static destruction.
Windows& the_windows() {
  static auto* const windows = new Windows;
  return *windows;
}

// The last window and target of this thread's that were rung: programs access the same one again and again.
struct RungTarget {
  uint64_t generation = 0;
  uint64_t window = 0;
  int rank = -1;
  int in_world = -1;
};
thread_local RungTarget rung_target __attribute__((tls_model("initial-exec")));

}  // namespace

void note_window(MPI_Win window) {
  const std::lock_guard lock(the_windows().mutex);
  the_windows().open.insert(handle_bits(window));
}

void forget_window(MPI_Win window) {
  const std::lock_guard lock(the_windows().mutex);
  the_windows().open.erase(handle_bits(window));
  the_windows().generation.fetch_add(1, std::memory_order_relaxed);
}

__attribute__((cold)) void ring_in(MPI_Comm comm, int peer) {
  if (is_nested() || mode() != Mode::kServing || peer == MPI_PROC_NULL) return;
  if (peer == MPI_ANY_SOURCE) return ring_node();
  ring_rank(world_rank_of(comm, peer));
}

__attribute__((cold)) void ring_target(MPI_Win window, int rank) {
  if (is_nested() || mode() != Mode::kServing || rank == MPI_PROC_NULL) return;
  RungTarget& target = rung_target;
  const uint64_t generation = the_windows().generation.load(std::memory_order_relaxed);
  const uint64_t bits = handle_bits(window);
  if (target.generation != generation || target.window != bits || target.rank != rank) {
    const std::lock_guard lock(the_windows().mutex);
    if (the_windows().open.count(bits) == 0) return;
    target = {generation, bits, rank, world_rank_in(window, rank)};
  }
  ring_rank(target.in_world);
}

}  // namespace hocket::interposer
