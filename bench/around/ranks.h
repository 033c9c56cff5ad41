// SPDX-License-Identifier: BSD-3-Clause
// What benchmarks in plain MPI measure with: clocks, medians, and ranks that meet by messages, so that no collective of
// the communicator that is looked at has a part in it.
//
// For programs of one source: init_ranks() comes first. Times are in microseconds.
//
// Thread safety: none.
#pragma once

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int rank, size;

static inline void init_ranks(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline double clock_us(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static inline int compare(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

// Sorts them.
static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

// Over all ranks; on rank 0 only.
static inline double most(double mine) {
  double largest = mine;
  if (rank != 0) MPI_Send(&mine, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  for (int from = 1; rank == 0 && from < size; ++from) {
    double other = 0;
    MPI_Recv(&other, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (other > largest) largest = other;
  }
  return largest;
}

// All ranks have come when it returns.
static inline void meet(void) {
  if (size == 1) return;
  char token = 0;
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int round = 0; round < 2; ++round) {
    if (rank == 0) MPI_Send(&token, 1, MPI_CHAR, next, 2, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_CHAR, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) MPI_Send(&token, 1, MPI_CHAR, next, 2, MPI_COMM_WORLD);
  }
}
