// SPDX-License-Identifier: BSD-3-Clause
// A wavefront, as in NPB's LU and in transport codes: each row of a square of size^2 cells depends on the row before
// and on the cell to the left, the square is cut into columns, and a rank waits in MPI_Recv for each row's edge. Every
// hundredth sweep ranks agree on the largest change.
#include <math.h>

#include "kernel.h"

int main(int argc, char** argv) {
  int size = 256, steps = 50, first = 0, width = 0;
  begin(&argc, &argv, &size, &steps);
  slab(size, &first, &width);
  double* const cells = memory((size_t)(size + 1) * (size_t)(width + 1), sizeof *cells);
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const double begin_s = MPI_Wtime();
  double largest = 0;
  for (int step = 0; step < steps; ++step) {
    double change = 0;
    for (int y = 1; y <= size; ++y) {
      double* const row = cells + (size_t)y * (size_t)(width + 1);
      const double* const before = row - (width + 1);
      MPI_Recv(row, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int x = 1; x <= width; ++x) {
        const double next = 0.3 * row[x - 1] + 0.4 * before[x] + 0.25 * row[x] + (first + x + y) % 5;
        change = fmax(change, fabs(next - row[x]));
        row[x] = next;
      }
      MPI_Send(row + width, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
    }
    if (step % 100 == 0 || step + 1 == steps) MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  end(begin_s, largest);
  return 0;
}
