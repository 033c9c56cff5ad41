// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a square plate, by Jacobi iteration, in plain MPI: a small but whole program of the usual kind.
//
// The plate is cut into blocks, one a rank. Each iteration exchanges the blocks' edges with up to four neighbours
// (MPI_Sendrecv), relaxes every cell, and agrees on the residual (MPI_Allreduce), since it decides when to stop.
// Parameters are read by rank 0 and broadcast; statistics are reduced to rank 0 at the end.
//
// Output is the same for every number of ranks and every MPI: a cell's value does not depend on how the plate is cut,
// the residual is a maximum, and the checksum adds integers. So two libraries can be compared bit for bit.
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int cells;         // interior cells along each side of the plate
  int iterations;    // at most
  int report;        // statistics every so many iterations; 0: only at the end
  double tolerance;  // stop when no cell changes by more
} parameters_t;

typedef struct {
  MPI_Comm grid;
  int rank, size;
  int west, east, north, south;  // neighbours' ranks or MPI_PROC_NULL
  int x0, y0;                    // the block's first cell, in cells of the plate
  int width, height;             // the block's size in cells, halo not counted
  MPI_Datatype column;           // `height` cells, one a row
  double *now, *next;            // (height + 2) rows of (width + 2)
} block_t;

static double* cell(double* field, const block_t* block, int x, int y) {
  return &field[(size_t)(y + 1) * (size_t)(block->width + 2) + (size_t)(x + 1)];
}

static void usage(const char* program) {
  fprintf(stderr,
          "usage: %s [--cells N] [--iterations N] [--tolerance X] [--report N]\n"
          "  --cells N        cells along each side of the plate, not fewer than ranks (default 256)\n"
          "  --iterations N   iterations at most (default 2000)\n"
          "  --tolerance X    stop when no cell changes by more (default 1e-9)\n"
          "  --report N       print statistics every N iterations (default 0: never)\n",
          program);
}

// Rank 0 reads the command line, as only it is promised one. Returns 0 if it is no good.
static int read_parameters(int argc, char** argv, int ranks, parameters_t* parameters) {
  *parameters = (parameters_t){.cells = 256, .iterations = 2000, .report = 0, .tolerance = 1e-9};
  for (int i = 1; i < argc; i += 2) {
    char* end = NULL;
    const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : -1;
    if (end == NULL || *end != '\0' || value < 0) return 0;
    if (strcmp(argv[i], "--cells") == 0) {
      parameters->cells = (int)value;
    } else if (strcmp(argv[i], "--iterations") == 0) {
      parameters->iterations = (int)value;
    } else if (strcmp(argv[i], "--report") == 0) {
      parameters->report = (int)value;
    } else if (strcmp(argv[i], "--tolerance") == 0) {
      parameters->tolerance = value;
    } else {
      return 0;
    }
  }
  return parameters->cells >= ranks && parameters->iterations >= 1;
}

// First cell of part `index` when `cells` are cut into `parts`.
static int begin_of(int cells, int index, int parts) { return (int)((int64_t)cells * index / parts); }

// The plate's edges are held at fixed temperatures: hot in the north, cold in the south, a slope between them.
static double edge_temperature(int y, int cells) { return 100.0 * (1.0 - (double)(y + 1) / (cells + 1)); }

static void set_up(block_t* block, const parameters_t* parameters) {
  int dims[2] = {0, 0}, periods[2] = {0, 0}, coordinates[2];
  MPI_Comm_size(MPI_COMM_WORLD, &block->size);
  MPI_Dims_create(block->size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &block->grid);
  MPI_Comm_rank(block->grid, &block->rank);
  MPI_Cart_coords(block->grid, block->rank, 2, coordinates);
  MPI_Cart_shift(block->grid, 0, 1, &block->north, &block->south);
  MPI_Cart_shift(block->grid, 1, 1, &block->west, &block->east);
  block->y0 = begin_of(parameters->cells, coordinates[0], dims[0]);
  block->x0 = begin_of(parameters->cells, coordinates[1], dims[1]);
  block->height = begin_of(parameters->cells, coordinates[0] + 1, dims[0]) - block->y0;
  block->width = begin_of(parameters->cells, coordinates[1] + 1, dims[1]) - block->x0;
  MPI_Type_vector(block->height, 1, block->width + 2, MPI_DOUBLE, &block->column);
  MPI_Type_commit(&block->column);

  const size_t bytes = (size_t)(block->height + 2) * (size_t)(block->width + 2) * sizeof(double);
  block->now = calloc(1, bytes);
  block->next = calloc(1, bytes);
  if (block->now == NULL || block->next == NULL) {
    fprintf(stderr, "heat2d: no memory for a block of %zu bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  // The halo starts as the plate's edge; where there is a neighbour it is overwritten before its first use.
  for (int y = -1; y <= block->height; y++) {
    for (int x = -1; x <= block->width; x++) {
      if (y >= 0 && y < block->height && x >= 0 && x < block->width) continue;
      *cell(block->now, block, x, y) = edge_temperature(block->y0 + y, parameters->cells);
      *cell(block->next, block, x, y) = *cell(block->now, block, x, y);
    }
  }
}

static void exchange_halo(block_t* b) {
  double* field = b->now;
  MPI_Sendrecv(cell(field, b, 0, 0), b->width, MPI_DOUBLE, b->north, 0, cell(field, b, 0, b->height), b->width,
               MPI_DOUBLE, b->south, 0, b->grid, MPI_STATUS_IGNORE);
  MPI_Sendrecv(cell(field, b, 0, b->height - 1), b->width, MPI_DOUBLE, b->south, 1, cell(field, b, 0, -1), b->width,
               MPI_DOUBLE, b->north, 1, b->grid, MPI_STATUS_IGNORE);
  MPI_Sendrecv(cell(field, b, 0, 0), 1, b->column, b->west, 2, cell(field, b, b->width, 0), 1, b->column, b->east, 2,
               b->grid, MPI_STATUS_IGNORE);
  MPI_Sendrecv(cell(field, b, b->width - 1, 0), 1, b->column, b->east, 3, cell(field, b, -1, 0), 1, b->column, b->west,
               3, b->grid, MPI_STATUS_IGNORE);
}

// One Jacobi step of this block; gives the largest change of a cell.
static double relax(block_t* block) {
  const size_t stride = (size_t)block->width + 2;
  double change = 0;
  for (int y = 0; y < block->height; y++) {
    const double* row = cell(block->now, block, 0, y);
    double* out = cell(block->next, block, 0, y);
    for (int x = 0; x < block->width; x++) {
      out[x] = 0.25 * ((row[x - 1] + row[x + 1]) + (row[x - (ptrdiff_t)stride] + row[x + stride]));
      const double difference = fabs(out[x] - row[x]);
      if (difference > change) change = difference;
    }
  }
  double* swap = block->now;
  block->now = block->next;
  block->next = swap;
  return change;
}

// A number that every bit of every cell and its place go into, and that does not depend on the order of addition.
static uint64_t checksum(block_t* block, const parameters_t* parameters) {
  uint64_t sum = 0;
  for (int y = 0; y < block->height; y++) {
    for (int x = 0; x < block->width; x++) {
      uint64_t bits;
      memcpy(&bits, cell(block->now, block, x, y), sizeof bits);
      const uint64_t place = (uint64_t)(block->y0 + y) * (uint64_t)parameters->cells + (uint64_t)(block->x0 + x);
      bits = (bits ^ (place * 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
      sum += bits ^ (bits >> 29);
    }
  }
  return sum;
}

static void report(block_t* block, int iteration, double residual) {
  double lowest = INFINITY, highest = -INFINITY, mine[2], all[2] = {0, 0};
  for (int y = 0; y < block->height; y++) {
    for (int x = 0; x < block->width; x++) {
      lowest = fmin(lowest, *cell(block->now, block, x, y));
      highest = fmax(highest, *cell(block->now, block, x, y));
    }
  }
  mine[0] = -lowest;
  mine[1] = highest;
  MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, 0, block->grid);
  if (block->rank == 0) {
    printf("iteration %d residual %.17g lowest %.17g highest %.17g\n", iteration, residual, -all[0], all[1]);
  }
}

static int solve(block_t* block, const parameters_t* parameters, double* residual) {
  int iteration = 0;
  do {
    exchange_halo(block);
    double change = relax(block);
    MPI_Allreduce(&change, residual, 1, MPI_DOUBLE, MPI_MAX, block->grid);
    iteration++;
    if (parameters->report > 0 && iteration % parameters->report == 0) report(block, iteration, *residual);
  } while (*residual > parameters->tolerance && iteration < parameters->iterations);
  return iteration;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, good = 1;
  parameters_t parameters;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) good = read_parameters(argc, argv, size, &parameters);
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!good) {
    if (rank == 0) usage(argv[0]);
    MPI_Finalize();
    return 2;
  }
  MPI_Bcast(&parameters, (int)sizeof parameters, MPI_BYTE, 0, MPI_COMM_WORLD);

  block_t block;
  set_up(&block, &parameters);
  double residual = 0;
  MPI_Barrier(block.grid);
  const double begin = MPI_Wtime();
  const int iterations = solve(&block, &parameters, &residual);
  MPI_Barrier(block.grid);
  const double seconds = MPI_Wtime() - begin;

  report(&block, iterations, residual);
  uint64_t mine = checksum(&block, &parameters), sum = 0;
  double slowest = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, block.grid);
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, block.grid);
  if (block.rank == 0) {
    printf("ranks %d cells %d iterations %d residual %.17g checksum %016llx seconds %.6f\n", block.size,
           parameters.cells, iterations, residual, (unsigned long long)sum, slowest);
  }
  free(block.now);
  free(block.next);
  MPI_Type_free(&block.column);
  MPI_Comm_free(&block.grid);
  MPI_Finalize();
  return 0;
}
