// SPDX-License-Identifier: BSD-3-Clause
// A program for an MPI of the system that ends with 1 if a sum of all ranks is wrong.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 50; ++i) {
    const int mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return sum == size * (size + 1) / 2 ? 0 : 1;
}
