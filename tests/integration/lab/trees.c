// SPDX-License-Identifier: BSD-3-Clause
// Sums along trees that the program chooses by hocket_force() while it runs, on three nodes with NIC engines. Tells how
// many trees there were, how many sums were wrong, and what was refused.
#include "comm_over_mpi.h"

enum { kSums = 20 };

// How many were wrong.
static int sums(hocket_comm_t* comm, int rank, int size) {
  int wrong = 0;
  for (int i = 0; i < kSums; i++) {
    const double mine[2] = {rank + i, 1};
    double all[2] = {0, 0};
    CHECK(hocket_allreduce(comm, mine, all, 2, HOCKET_DOUBLE, HOCKET_SUM));
    wrong += all[0] != size * (size - 1) / 2 + i * size || all[1] != size;
  }
  return wrong;
}

static const char* answer(hocket_status_t status) { return status == HOCKET_OK ? "accepted" : "refused"; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0, all_wrong = 0, trees = 0;
  comm_over_mpi_t over;
  open_comm(&over);
  hocket_comm_t* comm = over.comm;
  const int rank = over.rank, size = over.size;

  static const char* const kTrees[] = {"leader:across=tree_mm/1", "leader:across=tree_mm/flat",
                                       "leader:across=parents/0.2.0", "leader:across=parents/0.0.0"};
  for (size_t tree = 0; tree < sizeof kTrees / sizeof *kTrees; tree++, trees++) {
    CHECK(hocket_force(comm, "allreduce", kTrees[tree]));
    wrong += sums(comm, rank, size);
  }
  hocket_status_t refused = hocket_force(comm, "allreduce", "leader:across=ring");
  if (rank == 0) printf("ring: %s: %s\n", answer(refused), hocket_error_text());
  wrong += sums(comm, rank, size);
  // Nobody completes it before all have asked.
  hocket_request_t* started = NULL;
  CHECK(hocket_barrier_start(comm, &started));
  refused = hocket_force(comm, "allreduce", kTrees[0]);
  CHECK(hocket_wait(&started));
  if (rank == 0) printf("with a started call: %s\n", answer(refused));
  CHECK(hocket_force(comm, "allreduce", NULL));
  wrong += sums(comm, rank, size);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d trees, %d sums are wrong\n", trees, all_wrong);

  close_comm(&over);
  MPI_Finalize();
  return all_wrong != 0;
}
