// SPDX-License-Identifier: BSD-3-Clause
// A rank that comes to a collective three seconds late, in which another has said by then who is missing, and what that
// rank does: it sleeps, computes, or waits for a message.
//
//   late_rank [sleeps | computes | receives]
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kLate = 1, kSeconds = 3 };

static void be_late(const char* how) {
  const double end = MPI_Wtime() + kSeconds;
  if (strcmp(how, "computes") == 0) {
    while (MPI_Wtime() < end) continue;
  } else if (strcmp(how, "receives") == 0) {
    int nothing = 0;
    MPI_Recv(&nothing, 1, MPI_INT, world_size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    sleep(kSeconds);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* const how = argc > 1 ? argv[1] : "sleeps";
  set_up(MPI_COMM_WORLD);
  if (world_rank == kLate) be_late(how);
  if (world_rank == world_size - 1 && strcmp(how, "receives") == 0) {
    const int nothing = 0;
    sleep(kSeconds);
    MPI_Send(&nothing, 1, MPI_INT, kLate, 7, MPI_COMM_WORLD);
  }
  long mine = world_rank, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == (long)world_size * (world_size - 1) / 2, "%ld", sum);
  return finish("late_rank");
}
