// SPDX-License-Identifier: BSD-3-Clause
// What the first non-blocking calls of a communicator cost their host, and what those behind them do: an allreduce of
// one number at a time, all ranks together.
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { kPosts = 60, kShown = 8 };

static double now_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kPosts; ++i) {
    double in = rank, out = 0;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(2000);
    const double began = now_us(CLOCK_MONOTONIC), used = now_us(CLOCK_THREAD_CPUTIME_ID);
    MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    const double cpu = now_us(CLOCK_THREAD_CPUTIME_ID) - used, took = now_us(CLOCK_MONOTONIC) - began;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0 && (i < kShown || i >= kPosts - kShown))
      printf("post %2d: %6.1f us, %6.1f us of processor time\n", i + 1, took, cpu);
  }
  MPI_Finalize();
  return 0;
}
