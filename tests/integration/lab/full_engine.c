/* SPDX-License-Identifier: BSD-3-Clause */
/* More communicators with a persistent barrier each than a NIC engine has room for: what finds none is the MPI's.
 *   full_engine COMMUNICATORS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 128, kRounds = 3 };

int main(int argc, char** argv) {
  static MPI_Comm comms[kMost];
  static MPI_Request barriers[kMost];
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 && atoi(argv[1]) < kMost ? atoi(argv[1]) : kMost;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Barrier(comms[i]);
    MPI_Barrier_init(comms[i], MPI_INFO_NULL, &barriers[i]);
  }
  for (int round = 0; round < kRounds; ++round) {
    MPI_Startall(count, barriers);
    MPI_Waitall(count, barriers, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < count; ++i) {
    MPI_Request_free(&barriers[i]);
    MPI_Comm_free(&comms[i]);
  }
  if (rank == 0) printf("%d persistent barriers, %d times\n", count, kRounds);
  MPI_Finalize();
  return 0;
}
