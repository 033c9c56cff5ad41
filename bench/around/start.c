// SPDX-License-Identifier: BSD-3-Clause
// What a program pays once, on rank 0: wall time of MPI_Init, of the first and the second barrier and of MPI_Finalize,
// and the processor time of each and of all before main(). Prints lines of a name and microseconds.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double clock_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static double wall[5], processor[5];

static void take(int step) {
  wall[step] = clock_us(CLOCK_MONOTONIC);
  processor[step] = clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

int main(int argc, char** argv) {
  static const char* const kSteps[] = {"init", "first_barrier", "second_barrier", "finalize"};
  int rank = 0;
  take(0);
  MPI_Init(&argc, &argv);
  take(1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  take(2);
  MPI_Barrier(MPI_COMM_WORLD);
  take(3);
  MPI_Finalize();
  take(4);
  if (rank != 0) return 0;
  printf("processor_until_main %.3f\n", processor[0]);
  for (int step = 0; step < 4; ++step)
    printf("%s %.3f\nprocessor_of_%s %.3f\n", kSteps[step], wall[step + 1] - wall[step], kSteps[step],
           processor[step + 1] - processor[step]);
  return 0;
}
