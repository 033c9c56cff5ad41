// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 sleeps before some of the barriers, so that all others wait for it, in a line that the statistics name.
//
//   where_time_goes [blocking | started | among_others | without_an_end | without_a_reader]
// among_others: on a communicator without rank 0, in which ranks have other numbers. without_an_end: nobody calls
// MPI_Finalize. without_a_reader: nobody reads what rank 0 writes to stderr.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kLate = 1, kTimes = 5 };

static void meet_late(MPI_Comm comm) {
  for (int i = 0; i < kTimes; ++i) {
    if (world_rank == kLate) usleep(100000);
#line 1000 "where_time_goes.c"
    MPI_Barrier(comm);
  }
}

static void meet_among_others(void) {
  MPI_Comm others;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, world_rank, &others);
  if (world_rank != 0) meet_late(others);
  MPI_Comm_free(&others);
}

static void meet_later(void) {
  for (int i = 0; i < kTimes; ++i) {
    MPI_Request request;
    if (world_rank == kLate) usleep(100000);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
#line 2000 "where_time_goes.c"
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void lose_reader(void) {
  int ends[2];
  if (world_rank != 0 || pipe(ends) != 0) return;
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  if (argc > 1 && strcmp(argv[1], "started") == 0)
    meet_later();
  else if (argc > 1 && strcmp(argv[1], "among_others") == 0)
    meet_among_others();
  else
    meet_late(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) {
    long mine = world_rank, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (long)world_size * (world_size - 1) / 2, "%ld", sum);
  }
  if (argc > 1 && strcmp(argv[1], "without_an_end") == 0) exit(0);
  if (argc > 1 && strcmp(argv[1], "without_a_reader") == 0) lose_reader();
  return finish("where_time_goes");
}
