// SPDX-License-Identifier: BSD-3-Clause
// Poisson's equation on a rectangle by conjugate gradients, all calls of an iteration made ready before the first one.
// No MPI:
//
//   cc poisson.c $(pkg-config --cflags --libs hocket) -lm -o poisson && hocket run -n 4 ./poisson
//
// Each rank has some rows of the grid. An iteration exchanges the rows at their edges with the ranks above and below,
// while the rows between are worked on, and sums up two scalar products. The right side is made of a solution, which
// the one that is found is compared with in the end.
#include <hocket/persistent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 120, kColumns = 80, kMostIterations = 1000 };

// What this rank has, and what it calls in each iteration.
typedef struct {
  int first, rows;  // of the grid
  double *solution, *residual, *direction, *image;
  double ghosts[2 * kColumns];  // the rows above and below; zero beyond the edge of the grid
  double part, total;           // of a scalar product
  hocket_request_t *halo, *sum;
} solver_t;

static void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  exit(1);
}
#define CHECK(call) check(call, #call)

static double* field_of(int rows) {
  double* field = calloc((size_t)rows * kColumns, sizeof(double));
  if (field == NULL) exit(1);
  return field;
}

static void make_ready(solver_t* solver, hocket_comm_t* world) {
  int rank = 0, size = 0;
  CHECK(hocket_comm_rank(world, &rank));
  CHECK(hocket_comm_size(world, &size));
  if (size > kRows) {
    if (rank == 0) fprintf(stderr, "%d ranks are too many for %d rows\n", size, kRows);
    exit(1);
  }
  memset(solver, 0, sizeof *solver);
  solver->first = kRows * rank / size;
  solver->rows = kRows * (rank + 1) / size - solver->first;
  solver->solution = field_of(solver->rows);
  solver->residual = field_of(solver->rows);
  solver->direction = field_of(solver->rows);
  solver->image = field_of(solver->rows);

  // The first neighbour is rank - 1, which has the rows above. Both edges are read where they are.
  const int length[] = {size}, periodic[] = {0};
  const size_t counts[] = {kColumns, kColumns}, edges[] = {0, (size_t)(solver->rows - 1) * kColumns};
  hocket_neighbourhood_t* line = NULL;
  CHECK(hocket_neighbourhood_create_grid(world, 1, length, periodic, &line));
  CHECK(hocket_neighbor_alltoallv_init(line, solver->direction, counts, edges, solver->ghosts, counts, NULL,
                                       HOCKET_DOUBLE, &solver->halo));
  CHECK(hocket_neighbourhood_destroy(line));
  CHECK(hocket_allreduce_init(world, &solver->part, &solver->total, 1, HOCKET_DOUBLE, HOCKET_SUM, &solver->sum));
}

static void end(solver_t* solver) {
  CHECK(hocket_request_free(&solver->halo));
  CHECK(hocket_request_free(&solver->sum));
  free(solver->solution);
  free(solver->residual);
  free(solver->direction);
  free(solver->image);
}

static void apply_to_row(solver_t* solver, int row) {
  const double* here = solver->direction + (size_t)row * kColumns;
  const double* above = row > 0 ? here - kColumns : solver->ghosts;
  const double* below = row < solver->rows - 1 ? here + kColumns : solver->ghosts + kColumns;
  double* image = solver->image + (size_t)row * kColumns;
  for (int column = 0; column < kColumns; column++) {
    const double left = column > 0 ? here[column - 1] : 0, right = column < kColumns - 1 ? here[column + 1] : 0;
    image[column] = 4 * here[column] - above[column] - below[column] - left - right;
  }
}

// image = A direction
static void apply(solver_t* solver) {
  CHECK(hocket_start(solver->halo));
  for (int row = 1; row < solver->rows - 1; row++) apply_to_row(solver, row);
  CHECK(hocket_wait(&solver->halo));
  apply_to_row(solver, 0);
  if (solver->rows > 1) apply_to_row(solver, solver->rows - 1);
}

static double product(solver_t* solver, const double* one, const double* other) {
  solver->part = 0;
  for (int i = 0; i < solver->rows * kColumns; i++) solver->part += one[i] * other[i];
  CHECK(hocket_start(solver->sum));
  CHECK(hocket_wait(&solver->sum));
  return solver->total;
}

// The solution to be found: smooth in one direction, and not in the other.
static double known(int row, int column) { return sin(0.05 * (row + 1)) + (row * 7 + column * 3) % 5; }

static int solve(solver_t* solver) {
  const int points = solver->rows * kColumns;
  for (int i = 0; i < points; i++) solver->direction[i] = known(solver->first + i / kColumns, i % kColumns);
  apply(solver);
  memcpy(solver->residual, solver->image, (size_t)points * sizeof(double));
  memcpy(solver->direction, solver->image, (size_t)points * sizeof(double));
  double square = product(solver, solver->residual, solver->residual);
  const double enough = square * 1e-24;
  int iterations = 0;
  while (square > enough && iterations < kMostIterations) {
    apply(solver);
    const double step = square / product(solver, solver->direction, solver->image);
    for (int i = 0; i < points; i++) {
      solver->solution[i] += step * solver->direction[i];
      solver->residual[i] -= step * solver->image[i];
    }
    const double before = square;
    square = product(solver, solver->residual, solver->residual);
    for (int i = 0; i < points; i++)
      solver->direction[i] = solver->residual[i] + square / before * solver->direction[i];
    iterations++;
  }
  return iterations;
}

int main(void) {
  hocket_context_t* context = NULL;
  hocket_comm_t* world = NULL;
  int rank = 0, size = 0;
  CHECK(hocket_context_create(NULL, &context));
  CHECK(hocket_comm_world(context, &world));
  CHECK(hocket_comm_rank(world, &rank));
  CHECK(hocket_comm_size(world, &size));
  static solver_t solver;
  make_ready(&solver, world);
  const int iterations = solve(&solver);

  double error = 0, largest = 0;
  for (int i = 0; i < solver.rows * kColumns; i++)
    error = fmax(error, fabs(solver.solution[i] - known(solver.first + i / kColumns, i % kColumns)));
  CHECK(hocket_allreduce(world, &error, &largest, 1, HOCKET_DOUBLE, HOCKET_MAX));
  if (rank == 0)
    printf("%d ranks, %d x %d points: %d iterations, largest error %.1e\n", size, kRows, kColumns, iterations, largest);
  end(&solver);
  CHECK(hocket_comm_destroy(world));
  CHECK(hocket_context_destroy(context));
  return largest < 1e-8 ? 0 : 1;
}
