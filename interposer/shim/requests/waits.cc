// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/waits.h"

#include "shim/communicators/communicators.h"

namespace hocket::interposer {
namespace {

// The last window and target of this thread's that were rung: programs access the same one again and again.
struct RungTarget {
  uint64_t window = 0;
  int rank = -1;
  int in_world = -1;
};
thread_local RungTarget rung_target __attribute__((tls_model("initial-exec")));

}  // namespace

__attribute__((cold)) void ring_in(MPI_Comm comm, int peer) {
  if (is_nested() || peer == MPI_PROC_NULL) return;
  if (peer == MPI_ANY_SOURCE) return ring_node();
  ring_rank(world_rank_of(comm, peer));
}

__attribute__((cold)) void ring_target(MPI_Win window, int rank) {
  if (is_nested() || rank == MPI_PROC_NULL) return;
  RungTarget& target = rung_target;
  if (target.window != handle_bits(window) || target.rank != rank)
    target = {handle_bits(window), rank, world_rank_in(window, rank)};
  ring_rank(target.in_world);
}

}  // namespace hocket::interposer
