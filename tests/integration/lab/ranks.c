// SPDX-License-Identifier: BSD-3-Clause
// A few collectives whose results are checked, and who is where: a line for each rank.
//   ranks EXCHANGES        of 100000 bytes from each rank to each other, so that launchers' own traffic is little
//   ranks EXCHANGES leave  the same, without MPI_Finalize at the end
//   ranks wait             waits after MPI_Init, having started a process that leaves its session and waits, too
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 10
#define BLOCK 25000

static void fail(const char* what) {
  fprintf(stderr, "ranks: wrong %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void check_collectives(int rank, int size, int exchanges) {
  for (int round = 0; round < ROUNDS; ++round) {
    int mine = rank + round;
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2 + size * round) fail("sum");
    int word = rank == round % size ? 1000 + round : -1;
    MPI_Bcast(&word, 1, MPI_INT, round % size, MPI_COMM_WORLD);
    if (word != 1000 + round) fail("broadcast");
  }
  int* from = malloc(sizeof(int) * BLOCK * (size_t)size);
  int* to = malloc(sizeof(int) * BLOCK * (size_t)size);
  if (from == NULL || to == NULL) fail("memory");
  for (int round = 0; round < exchanges; ++round) {
    for (int i = 0; i < BLOCK * size; ++i) from[i] = rank * 1000 + i / BLOCK + round;
    MPI_Alltoall(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < BLOCK * size; ++i) {
      if (to[i] != i / BLOCK * 1000 + rank + round) fail("exchange");
    }
  }
  free(from);
  free(to);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  char host[64] = "";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host - 1);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    if (fork() == 0) {
      setsid();
      pause();
    }
    pause();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_collectives(rank, size, argc > 1 ? atoi(argv[1]) : 1);
  printf("rank %d of %d on %s\n", rank, size, host);
  fflush(stdout);
  if (argc > 2 && strcmp(argv[2], "leave") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    _exit(0);
  }
  MPI_Finalize();
  return 0;
}
