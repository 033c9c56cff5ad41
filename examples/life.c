// SPDX-License-Identifier: BSD-3-Clause
// The game of life on a torus, by a halo exchange with all eight neighbours. No MPI:
//
//   cc life.c $(pkg-config --cflags --libs hocket) -o life && hocket run -n 6 ./life
//
// The ranks lie on a grid of rows and columns, and each has a square of the torus. In every generation it gives its
// edges to its neighbours, four of `kSide` cells and four corners, and gets theirs. In the end each rank works out the
// whole torus by itself, and compares.
#include <hocket/neighbourhoods.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSide = 32, kGenerations = 100, kNeighbours = 8, kWidth = kSide + 2 };

// By row and column: how far each neighbour is away.
static const int kOffsets[kNeighbours][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};

static void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  exit(1);
}
#define CHECK(call) check(call, #call)

// Whether a cell lives in the beginning.
static uint8_t seed(int row, int column) {
  return (((unsigned)row * 73856093u) ^ ((unsigned)column * 19349663u)) % 7 < 3;
}

// The cells next to a neighbour in one dimension: the first and the last of one's own, or of the halo around them.
static void range(int offset, int in_halo, int* first, int* last) {
  *first = offset > 0 ? kSide + in_halo : 1 - (offset < 0 ? in_halo : 0);
  *last = offset < 0 ? 1 - in_halo : kSide + (offset > 0 ? in_halo : 0);
}

// Copies the edge towards a neighbour out of the cells, or what has come from one into the halo there.
static size_t copy_edge(uint8_t (*cells)[kWidth], const int* offset, int in_halo, uint8_t* packed) {
  int rows[2], columns[2];
  size_t count = 0;
  range(offset[0], in_halo, &rows[0], &rows[1]);
  range(offset[1], in_halo, &columns[0], &columns[1]);
  for (int row = rows[0]; row <= rows[1]; row++) {
    for (int column = columns[0]; column <= columns[1]; column++) {
      uint8_t* cell = &cells[row][column];
      if (in_halo) {
        *cell = packed[count++];
      } else {
        packed[count++] = *cell;
      }
    }
  }
  return count;
}

static uint8_t next_cell(uint8_t lives, int neighbours) {
  return (uint8_t)(neighbours == 3 || (lives && neighbours == 2));
}

static void step(uint8_t (*cells)[kWidth], uint8_t (*next)[kWidth]) {
  for (int row = 1; row <= kSide; row++) {
    for (int column = 1; column <= kSide; column++) {
      int around = 0;
      for (int k = 0; k < kNeighbours; k++) around += cells[row + kOffsets[k][0]][column + kOffsets[k][1]];
      next[row][column] = next_cell(cells[row][column], around);
    }
  }
  memcpy(cells, next, sizeof(uint8_t[kWidth][kWidth]));
}

// The whole torus after all generations, without any exchange.
static uint8_t* serial(int rows, int columns) {
  const size_t size = (size_t)rows * (size_t)columns;
  uint8_t* now = malloc(size);
  uint8_t* next = malloc(size);
  if (now == NULL || next == NULL) exit(1);
  for (int i = 0; i < (int)size; i++) now[i] = seed(i / columns, i % columns);
  for (int generation = 0; generation < kGenerations; generation++) {
    for (int i = 0; i < (int)size; i++) {
      int around = 0;
      for (int k = 0; k < kNeighbours; k++) {
        const int row = (i / columns + kOffsets[k][0] + rows) % rows;
        around += now[row * columns + (i % columns + kOffsets[k][1] + columns) % columns];
      }
      next[i] = next_cell(now[i], around);
    }
    memcpy(now, next, size);
  }
  free(next);
  return now;
}

int main(void) {
  hocket_context_t* context = NULL;
  hocket_comm_t* world = NULL;
  hocket_neighbourhood_t* halo = NULL;
  int rank = 0, size = 0;
  CHECK(hocket_context_create(NULL, &context));
  CHECK(hocket_comm_world(context, &world));
  CHECK(hocket_comm_rank(world, &rank));
  CHECK(hocket_comm_size(world, &size));
  const int lengths[] = {size % 2 == 0 ? 2 : 1, size % 2 == 0 ? size / 2 : size}, periodic[] = {1, 1};
  CHECK(hocket_neighbourhood_create_stencil(world, 2, lengths, periodic, kNeighbours, &kOffsets[0][0], &halo));

  static uint8_t cells[kWidth][kWidth], next[kWidth][kWidth];
  const int top = rank / lengths[1] * kSide, left = rank % lengths[1] * kSide;
  for (int row = 0; row < kSide; row++)
    for (int column = 0; column < kSide; column++) cells[row + 1][column + 1] = seed(top + row, left + column);

  // Edges are as long as what comes from the other side, so both have the same counts; one block behind the other.
  static uint8_t out[kNeighbours * kSide], in[kNeighbours * kSide];
  size_t counts[kNeighbours];
  for (int generation = 0; generation < kGenerations; generation++) {
    uint8_t* packed = out;
    for (int k = 0; k < kNeighbours; k++) packed += counts[k] = copy_edge(cells, kOffsets[k], 0, packed);
    CHECK(hocket_neighbor_alltoallv(halo, out, counts, NULL, in, counts, NULL, HOCKET_UINT8));
    // The k-th source is as far away as the k-th destination, on the other side.
    packed = in;
    for (int k = 0; k < kNeighbours; k++) {
      const int from[] = {-kOffsets[k][0], -kOffsets[k][1]};
      packed += copy_edge(cells, from, 1, packed);
    }
    step(cells, next);
  }

  const int columns = lengths[1] * kSide;
  uint8_t* whole = serial(lengths[0] * kSide, columns);
  int64_t wrong = 0, living = 0;
  for (int row = 0; row < kSide; row++) {
    for (int column = 0; column < kSide; column++) {
      wrong += cells[row + 1][column + 1] != whole[(top + row) * columns + left + column];
      living += cells[row + 1][column + 1];
    }
  }
  free(whole);
  int64_t mine[] = {wrong, living}, all[2];
  CHECK(hocket_allreduce(world, mine, all, 2, HOCKET_INT64, HOCKET_SUM));
  if (rank == 0)
    printf("%d ranks, %d x %d cells, %d generations: %lld live, %lld wrong\n", size, lengths[0] * kSide, columns,
           kGenerations, (long long)all[1], (long long)all[0]);
  CHECK(hocket_neighbourhood_destroy(halo));
  CHECK(hocket_comm_destroy(world));
  CHECK(hocket_context_destroy(context));
  return all[0] == 0 ? 0 : 1;
}
