// SPDX-License-Identifier: BSD-3-Clause
// Reductions of elements longer than hocket combines are handed to the MPI, alike on all ranks, and both before and
// after them hocket carries calls out.
#include <stddef.h>

#include "check.h"

static void add_rows(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes;
  MPI_Type_size(*type, &bytes);
  const int length = *count * (bytes / (int)sizeof(double));
  for (int i = 0; i < length; ++i) ((double*)inout)[i] += ((const double*)in)[i];
}

static void very_long_elements(MPI_Comm comm) {
  enum { kLength = 10000, kCount = 3, kAll = kCount * kLength };
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op;
  MPI_Op_create(add_rows, 1, &op);
  MPI_Datatype row;
  MPI_Type_contiguous(kLength, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  static double input[kAll], result[kAll];
  const double ranks = size * (size - 1) / 2.;
  for (int i = 0; i < kAll; ++i) input[i] = rank + i;
  MPI_Allreduce(input, result, kCount, row, op, comm);
  for (int i = 0; i < kAll; ++i) CHECK(result[i] == ranks + (double)size * i, "place %d", i);
  memset(result, 0, sizeof result);
  MPI_Reduce(input, result, kCount, row, op, size - 1, comm);
  for (int i = 0; i < kAll && rank == size - 1; ++i) CHECK(result[i] == ranks + (double)size * i, "place %d", i);
  MPI_Type_free(&row);
  MPI_Op_free(&op);
}

static void short_ones(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size, "sum %d", sum);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  short_ones(MPI_COMM_WORLD);
  very_long_elements(MPI_COMM_WORLD);
  short_ones(MPI_COMM_WORLD);
  return finish("long_elements");
}
