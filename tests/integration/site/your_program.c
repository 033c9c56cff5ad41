// SPDX-License-Identifier: BSD-3-Clause
// Stands for the reader's own program on the pages of docs/: some collectives, checked.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { kCalls = 20, kMostRanks = 64 };
  int rank = 0, size = 1, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int call = 0; call < kCalls; call++) {
    double mine = rank + call, sum = 0, before = 0;
    int sent[kMostRanks], received[kMostRanks];
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong |= sum != size * (size - 1) / 2.0 + (double)size * call;
    MPI_Scan(&mine, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong |= before != rank * (rank + 1) / 2.0 + (double)(rank + 1) * call;
    for (int other = 0; other < size; other++) sent[other] = rank * kMostRanks + other;
    MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
    for (int other = 0; other < size; other++) wrong |= received[other] != other * kMostRanks + rank;
  }
  printf("rank %d of %d: %s\n", rank, size, wrong ? "WRONG" : "right");
  MPI_Finalize();
  return wrong;
}
