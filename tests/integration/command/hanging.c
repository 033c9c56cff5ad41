// SPDX-License-Identifier: BSD-3-Clause
// Three ranks of an MPI program that never ends: rank 1 does not come to a barrier, since it computes, sleeps, or waits
// in the barrier of another communicator, "other". Or all of them wait for messages that never come: each from any rank
// ("receives"), or from the next one ("ring").
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "sleeps";
  int rank = 0;
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_set_name(other, "other");
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(other);
  }
  if (strcmp(how, "receives") == 0 || strcmp(how, "ring") == 0)
    MPI_Recv(&rank, 1, MPI_INT, strcmp(how, "receives") == 0 ? MPI_ANY_SOURCE : (rank + 1) % 3, 7, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  if (rank == 1) {
    if (strcmp(how, "deadlocks") == 0) MPI_Barrier(other);
    for (volatile long i = 0; strcmp(how, "computes") == 0; ++i) continue;
    for (;;) sleep(1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
