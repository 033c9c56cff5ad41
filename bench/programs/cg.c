// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on the Poisson equation in a cube of size^3 cells, cut into slabs: an iteration exchanges two
// planes with each neighbour and sums two numbers over all ranks. What NPB's CG does, with another matrix.
#include <math.h>

#include "kernel.h"

static int cells, planes, plane;

static double dot(const double* a, const double* b) {
  double mine = 0, sum = 0;
  for (long i = plane; i < (long)(planes + 1) * plane; ++i) mine += a[i] * b[i];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static void multiply(double* in, double* out) {
  exchange_halo(in, planes, plane);
  for (int z = 1; z <= planes; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x) {
        const long i = ((long)z * cells + y) * cells + x;
        double sum = 6 * in[i] - in[i - plane] - in[i + plane];
        if (y > 0) sum -= in[i - cells];
        if (y + 1 < cells) sum -= in[i + cells];
        if (x > 0) sum -= in[i - 1];
        if (x + 1 < cells) sum -= in[i + 1];
        out[i] = sum;
      }
}

int main(int argc, char** argv) {
  int steps = 100, first = 0;
  cells = 48;
  begin(&argc, &argv, &cells, &steps);
  slab(cells, &first, &planes);
  plane = cells * cells;
  const long all = (long)(planes + 2) * plane;
  double *x = memory((size_t)all, sizeof *x), *r = memory((size_t)all, sizeof *r), *p = memory((size_t)all, sizeof *p),
         *q = memory((size_t)all, sizeof *q);
  for (long i = plane; i < (long)(planes + 1) * plane; ++i) p[i] = r[i] = ((long)first * plane + i - plane) % 7 - 3.0;
  const double begin_s = MPI_Wtime();
  double rho = dot(r, r);
  for (int step = 0; step < steps; ++step) {
    multiply(p, q);
    const double alpha = rho / dot(p, q);
    for (long i = plane; i < (long)(planes + 1) * plane; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    const double next = dot(r, r), beta = next / rho;
    for (long i = plane; i < (long)(planes + 1) * plane; ++i) p[i] = r[i] + beta * p[i];
    rho = next;
  }
  end(begin_s, sqrt(dot(x, x)));
  return 0;
}
