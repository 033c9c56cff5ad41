// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of this folder share: two numbers from the command line, and the line that a run ends with.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

// --size and --steps; ends the job where they are no good.
static inline void begin(int* argc, char*** argv, int* size, int* steps) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < *argc; i += 2) {
    int* const number = strcmp((*argv)[i], "--size") == 0 ? size : strcmp((*argv)[i], "--steps") == 0 ? steps : NULL;
    if (number != NULL) *number = atoi((*argv)[i + 1]);
  }
  if (*size < 2 * ranks || *steps < 1) {
    if (rank == 0) fprintf(stderr, "--size N, at least two for each rank, and --steps N, at least 1\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

static inline void* memory(size_t count, size_t bytes) {
  void* const found = calloc(count, bytes);
  if (found == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return found;
}

// The slowest rank's time counts. `result` is the same on all ranks.
static inline void end(double begin_s, double result) {
  double mine = MPI_Wtime() - begin_s, slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("ranks %d result %.6e seconds %.6f\n", ranks, result, slowest);
  MPI_Finalize();
}

// The part of `size` planes that this rank has: its first, and how many.
static inline void slab(int size, int* first, int* count) {
  *first = (int)((long)size * rank / ranks);
  *count = (int)((long)size * (rank + 1) / ranks) - *first;
}

// `field` has `count` planes of `plane` doubles, with one more before and behind: the neighbours' are put there.
static inline void exchange_halo(double* field, int count, int plane) {
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const size_t step = (size_t)plane;
  MPI_Request requests[4];
  MPI_Irecv(field, plane, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(field + (size_t)(count + 1) * step, plane, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(field + step, plane, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(field + (size_t)count * step, plane, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}
