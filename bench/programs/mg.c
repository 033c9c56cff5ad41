// SPDX-License-Identifier: BSD-3-Clause
// Multigrid on the Poisson equation in size planes of size^2 cells, cut into slabs, as NPB's MG: V-cycles that smooth
// with halo exchanges, whose messages get shorter from level to level, and the residual's maximum over all ranks after
// each cycle. Planes stay and cells within them are halved, so every rank has its part of each level.
#include <math.h>

#include "kernel.h"

enum { kMostLevels = 12 };

typedef struct {
  int width;      // cells a side of a plane
  double within;  // what a neighbour in the plane counts, where one in the next plane counts 1
  double *field, *right, *scratch;
} Level;

static int planes, levels;
static Level level[kMostLevels];

static double neighbours(const Level* l, long i, int x, int y) {
  const int w = l->width, plane = w * w;
  const double* const field = l->field;
  double sum = 0;
  if (y > 0) sum += field[i - w];
  if (y + 1 < w) sum += field[i + w];
  if (x > 0) sum += field[i - 1];
  if (x + 1 < w) sum += field[i + 1];
  return field[i - plane] + field[i + plane] + l->within * sum;
}

// What is left of the right side, into scratch; its maximum on this rank.
static double residual(Level* l) {
  const int w = l->width;
  double largest = 0;
  exchange_halo(l->field, planes, w * w);
  for (int z = 1; z <= planes; ++z)
    for (int y = 0; y < w; ++y)
      for (int x = 0; x < w; ++x) {
        const long i = ((long)z * w + y) * w + x;
        l->scratch[i] = l->right[i] + neighbours(l, i, x, y) - (2 + 4 * l->within) * l->field[i];
        largest = fmax(largest, fabs(l->scratch[i]));
      }
  return largest;
}

static void smooth(Level* l, int times) {
  const long plane = (long)l->width * l->width;
  for (int t = 0; t < times; ++t) {
    (void)residual(l);
    for (long i = plane; i < (planes + 1) * plane; ++i) l->field[i] += 0.8 / (2 + 4 * l->within) * l->scratch[i];
  }
}

static void cycle(int depth) {
  Level* const fine = &level[depth];
  if (depth + 1 == levels) {
    smooth(fine, 8);
    return;
  }
  Level* const coarse = &level[depth + 1];
  const int w = coarse->width, fw = fine->width;
  smooth(fine, 2);
  (void)residual(fine);
  for (int z = 1; z <= planes; ++z)
    for (int y = 0; y < w; ++y)
      for (int x = 0; x < w; ++x) {
        const long i = ((long)z * w + y) * w + x, f = ((long)z * fw + 2 * y) * fw + 2 * x;
        const double* const from = fine->scratch;
        coarse->field[i] = 0;
        coarse->right[i] = 0.25 * (from[f] + from[f + 1] + from[f + fw] + from[f + fw + 1]);
      }
  cycle(depth + 1);
  for (int z = 1; z <= planes; ++z)
    for (int y = 0; y < fw; ++y)
      for (int x = 0; x < fw; ++x)
        fine->field[((long)z * fw + y) * fw + x] += coarse->field[((long)z * w + y / 2) * w + x / 2];
  smooth(fine, 2);
}

int main(int argc, char** argv) {
  int size = 64, steps = 20, first = 0;
  begin(&argc, &argv, &size, &steps);
  slab(size, &first, &planes);
  double within = 1;
  for (int width = size; levels < kMostLevels; width /= 2, within /= 4) {
    const size_t cells = (size_t)(planes + 2) * (size_t)width * (size_t)width;
    level[levels++] = (Level){width, within, memory(cells, sizeof(double)), memory(cells, sizeof(double)),
                              memory(cells, sizeof(double))};
    if (width % 2 != 0 || width <= 4) break;
  }
  const long plane = (long)size * size;
  for (long i = 0; i < planes * plane; ++i) level[0].right[plane + i] = ((first * plane + i) % 11) - 5.0;
  const double begin_s = MPI_Wtime();
  double largest = 0;
  for (int step = 0; step < steps; ++step) {
    cycle(0);
    const double mine = residual(&level[0]);
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  end(begin_s, largest);
  return 0;
}
