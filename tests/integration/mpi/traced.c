// SPDX-License-Identifier: BSD-3-Clause
// A rank that comes to some collectives late, for a trace (traced_test.py) to say so, and a receive that waits.
//
//   traced [hangs]: and in the end one rank doesn't come to a barrier for long
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kLate = 1, kCalls = 20, kLateUs = 50000 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  enum { kValues = 100000 };
  static double mine[kValues], sum[kValues];
  for (int call = 0; call < kCalls; ++call) {
    if (world_rank == kLate) usleep(kLateUs / kCalls);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(mine, sum, kValues, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (world_rank == kLate) usleep(kLateUs);
  int word = 0;
  if (world_rank == kLate) MPI_Send(&word, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  if (world_rank == 0) MPI_Recv(&word, 1, MPI_INT, kLate, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request request;
  MPI_Iallreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(&word, 1, MPI_INT, kLate, MPI_COMM_WORLD);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  for (int call = 0; call < kCalls; ++call) MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, copy);
  MPI_Comm_set_name(copy, "\"renamed\" copy");
  MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, copy);
  MPI_Comm_free(&copy);
  if (argc > 1 && strcmp(argv[1], "hangs") == 0) {
    if (world_rank == kLate) sleep(3);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return finish("traced");
}
