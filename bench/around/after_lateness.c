// SPDX-License-Identifier: BSD-3-Clause
// Small allreduces after one rank was late: a rank sleeps for some milliseconds, then all make 200 of them, 60 times
// (but for 2 seconds at most). Prints the mean of a call in microseconds.
//   after_lateness MILLISECONDS [bound] [together]
// bound: each rank to a core of its own. together: each round begins with all ranks on one core, free to use all.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks.h"

enum { kCalls = 200, kMostRounds = 60 };

static double now_us(void) { return clock_us(CLOCK_MONOTONIC); }

static void sleep_us(double us) {
  const struct timespec time = {(time_t)(us / 1e6), (long)(1e3 * (us - 1e6 * (double)(time_t)(us / 1e6)))};
  nanosleep(&time, NULL);
}

// The allowed core of this number, modulo how many there are.
static int core_number(const cpu_set_t* allowed, int number) {
  number %= CPU_COUNT(allowed);
  for (int core = 0;; ++core)
    if (CPU_ISSET(core, allowed) && number-- == 0) return core;
}

static void move_to(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char** argv) {
  int is_bound = 0, is_together = 0;
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "bound") == 0) is_bound = 1;
    if (strcmp(argv[i], "together") == 0) is_together = 1;
  }
  const double late_us = argc > 1 ? 1e3 * atof(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  init_ranks();
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  if (is_bound) move_to(core_number(&allowed, rank));
  double value = 1, sum = 0;
  for (int i = 0; i < 20; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double total = 0;
  int rounds = 0;
  for (const double end = now_us() + 2e6; rounds < kMostRounds; ++rounds) {
    double is_over = now_us() > end;
    MPI_Bcast(&is_over, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (is_over != 0) break;
    if (is_together) {
      move_to(core_number(&allowed, 0));
      sched_setaffinity(0, sizeof allowed, &allowed);
    }
    if (rank == size - 1) sleep_us(late_us);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double begin = now_us();
    for (int i = 0; i < kCalls; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    total += now_us() - begin;
  }
  total = most(total);
  if (rank == 0) printf("mean_us %.3f\n", total / (rounds * kCalls));
  MPI_Finalize();
  return 0;
}
