/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of an MPI program, and whether each holds: nobody leaves one before all have come to it, by the clock that
 * nodes of a lab have in common.
 *   barriers COUNT
 *   barriers until-failure [later]
 *                           until one fails, and says so; says too if that kills this process. "later": sums that are
 *                           waited for later, in pairs */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int broken(MPI_Comm comm, int count, int rank) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    if ((i + rank) % 7 == 0) { /* somebody is late */
      const double until = now() + 50e-6;
      while (now() < until) continue;
    }
    double come = now();
    double last = 0;
    MPI_Barrier(comm);
    const double left = now();
    if (i % 10 != 0) continue;
    MPI_Allreduce(&come, &last, 1, MPI_DOUBLE, MPI_MAX, comm);
    wrong += left < last;
  }
  return wrong;
}

static void say(const char* word) { (void)!write(STDOUT_FILENO, word, strlen(word)); }

static void crash(int signal) {
  (void)signal;
  say("crashed\n");
  _exit(1);
}

/* One of them may have ended before. */
static int fails_later(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  long in = 1, out[2];
  for (int i = 0; i < 2; ++i)
    if (MPI_Iallreduce(&in, &out[i], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[i]) != MPI_SUCCESS) return 1;
  const int error = MPI_Waitall(2, requests, statuses);
  if (error == MPI_SUCCESS) return 0;
  return error == MPI_ERR_IN_STATUS && statuses[1].MPI_ERROR == MPI_ERR_OTHER && requests[1] == MPI_REQUEST_NULL;
}

static int until_failure(int rank, int later) {
  signal(SIGSEGV, crash);
  signal(SIGABRT, crash);
  signal(SIGUSR1, SIG_IGN); /* MPICH's launcher tells of a dead rank by it */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) say("started\n");
  MPI_Barrier(MPI_COMM_WORLD);
  while (later && !fails_later()) continue;
  while (!later && MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS) continue;
  say("told\n");
  _exit(0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "until-failure") == 0) return until_failure(rank, argc > 2);
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  int wrong = broken(MPI_COMM_WORLD, count, rank);
  MPI_Comm other;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
  wrong += broken(other, count, rank);
  MPI_Comm_free(&other);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d barriers did not hold\n", all);
  MPI_Finalize();
  return 0;
}
