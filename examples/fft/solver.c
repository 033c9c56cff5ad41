// SPDX-License-Identifier: BSD-3-Clause
#include "solver.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Like fmax, but what is not a number is infinitely bad.
static double worse(double worst, double error) {
  if (error <= worst) return worst;
  return error > worst ? error : INFINITY;
}

// The last part of splitmix64 by Steele, Lea and Flood (2014).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// In [-1, 1); number `index` of a sequence that depends on the seed alone.
static double random_number(uint64_t seed, uint64_t index) {
  return (double)(int64_t)mix(seed * 0x9e3779b97f4a7c15u + mix(index + 1)) / 9223372036854775808.0;
}

static int extent(const parameters_t* parameters, const layout_t* layout, int level) {
  return parameters->size[layout->axis[level]];
}

static ptrdiff_t local_points(const parameters_t* parameters, const layout_t* layout) {
  return layout->count * extent(parameters, layout, 1) * extent(parameters, layout, 2);
}

// The coordinates of a point of this rank's part, and its place in the whole.
static uint64_t locate(const parameters_t* parameters, const layout_t* layout, ptrdiff_t index, int* at) {
  const int second = extent(parameters, layout, 1), third = extent(parameters, layout, 2);
  at[layout->axis[2]] = (int)(index % third);
  at[layout->axis[1]] = (int)(index / third % second);
  at[layout->axis[0]] = (int)(layout->first + index / third / second);
  return ((uint64_t)at[0] * (uint64_t)parameters->size[1] + (uint64_t)at[1]) * (uint64_t)parameters->size[2] +
         (uint64_t)at[2];
}

// Indices above the middle stand for negative wave numbers.
static double squared_wave_number(const parameters_t* parameters, const int* at) {
  double sum = 0;
  for (int axis = 0; axis < kMostDimensions; axis++) {
    const int size = parameters->size[axis], number = at[axis] <= size / 2 ? at[axis] : at[axis] - size;
    sum += (double)number * number;
  }
  return sum;
}

// The state at some time, known since each plane wave turns at its own speed.
static double complex exact_state(const parameters_t* parameters, const solver_t* solver, const int* at, double time) {
  double complex state = 0;
  for (int i = 0; i < kWaves; i++) {
    double turns = 0;
    for (int axis = 0; axis < kMostDimensions; axis++) {
      const int64_t size = parameters->size[axis];
      turns += (double)((int64_t)solver->wave[i][axis] * at[axis] % size) / (double)size;
    }
    const double energy = squared_wave_number(parameters, solver->wave[i]) / 2;
    state += solver->amplitude[i] * cexp(I * (2 * M_PI * turns - energy * time));
  }
  return state;
}

static double complex exact_transform(const solver_t* solver, const int* at) {
  double complex sum = 0;
  for (int i = 0; i < kWaves; i++) {
    if (memcmp(solver->wave[i], at, sizeof solver->wave[i]) == 0) sum += solver->amplitude[i];
  }
  return sum * solver->points;
}

static void choose_waves(const parameters_t* parameters, solver_t* solver) {
  uint64_t index = 0;
  for (int i = 0; i < kWaves; i++) {
    solver->amplitude[i] = random_number(~parameters->seed, index) + I * random_number(~parameters->seed, index + 1);
    index += 2;
    for (int axis = 0; axis < kMostDimensions; axis++) {
      const double random = (random_number(~parameters->seed, index++) + 1) / 2;
      solver->wave[i][axis] = (int)(random * parameters->size[axis]);
    }
  }
}

void set_up(const parameters_t* parameters, solver_t* solver) {
  ptrdiff_t sizes[kMostDimensions];
  solver->points = 1;
  for (int axis = 0; axis < kMostDimensions; axis++) {
    sizes[axis] = parameters->size[axis];
    solver->points *= (double)parameters->size[axis];
  }
  ptrdiff_t first_count, first_begin, second_count, second_begin;
  const ptrdiff_t room = fftw_mpi_local_size_many_transposed(parameters->dimensions, sizes, 1, FFTW_MPI_DEFAULT_BLOCK,
                                                             FFTW_MPI_DEFAULT_BLOCK, MPI_COMM_WORLD, &first_count,
                                                             &first_begin, &second_count, &second_begin);
  solver->space = (layout_t){first_count, first_begin, {0, 1, 2}};
  solver->waves = parameters->natural ? solver->space : (layout_t){second_count, second_begin, {1, 0, 2}};
  solver->field = fftw_alloc_complex((size_t)room + 1);
  solver->transform = fftw_alloc_complex((size_t)room + 1);
  solver->factors = fftw_alloc_complex((size_t)room + 1);
  // That a transform may overwrite its input leaves the planner free to use MPI_Alltoall.
  const unsigned flags = parameters->plan | FFTW_DESTROY_INPUT;
  const unsigned out = parameters->natural ? 0 : FFTW_MPI_TRANSPOSED_OUT,
                 in = parameters->natural ? 0 : FFTW_MPI_TRANSPOSED_IN;
  if (solver->field != NULL && solver->transform != NULL && solver->factors != NULL) {
    solver->forward = fftw_mpi_plan_dft(parameters->dimensions, sizes, solver->field, solver->transform, MPI_COMM_WORLD,
                                        FFTW_FORWARD, flags | out);
    solver->backward = fftw_mpi_plan_dft(parameters->dimensions, sizes, solver->transform, solver->field,
                                         MPI_COMM_WORLD, FFTW_BACKWARD, flags | in);
  }
  if (solver->forward == NULL || solver->backward == NULL) {
    fprintf(stderr, "fft: rank %d has no memory, or FFTW no plan, for this size\n", solver->rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  choose_waves(parameters, solver);
  for (ptrdiff_t i = 0; i < local_points(parameters, &solver->waves); i++) {
    int at[kMostDimensions];
    locate(parameters, &solver->waves, i, at);
    solver->factors[i] = cexp(-I * (squared_wave_number(parameters, at) / 2 * parameters->time)) / solver->points;
  }
}

void tear_down(solver_t* solver) {
  fftw_destroy_plan(solver->forward);
  fftw_destroy_plan(solver->backward);
  fftw_free(solver->field);
  fftw_free(solver->transform);
  fftw_free(solver->factors);
}

static double over_ranks(double mine, MPI_Op operation) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
  return all;
}

static void set_exact_state(const parameters_t* parameters, solver_t* solver) {
  for (ptrdiff_t i = 0; i < local_points(parameters, &solver->space); i++) {
    int at[kMostDimensions];
    locate(parameters, &solver->space, i, at);
    solver->field[i] = exact_state(parameters, solver, at, 0);
  }
}

double transform_error(const parameters_t* parameters, solver_t* solver) {
  double worst = 0;
  set_exact_state(parameters, solver);
  fftw_execute(solver->forward);
  for (ptrdiff_t i = 0; i < local_points(parameters, &solver->waves); i++) {
    int at[kMostDimensions];
    locate(parameters, &solver->waves, i, at);
    worst = worse(worst, cabs(solver->transform[i] - exact_transform(solver, at)) / solver->points);
  }
  return over_ranks(worst, MPI_MAX);
}

static double complex random_value(const parameters_t* parameters, uint64_t place) {
  return random_number(parameters->seed, 2 * place) + I * random_number(parameters->seed, 2 * place + 1);
}

void round_trip(const parameters_t* parameters, solver_t* solver, double* energy_error, double* error) {
  const ptrdiff_t points = local_points(parameters, &solver->space);
  int at[kMostDimensions];
  double in_space = 0, in_waves = 0, worst = 0;
  for (ptrdiff_t i = 0; i < points; i++) {
    solver->field[i] = random_value(parameters, locate(parameters, &solver->space, i, at));
    in_space += creal(solver->field[i] * conj(solver->field[i]));
  }
  fftw_execute(solver->forward);
  for (ptrdiff_t i = 0; i < local_points(parameters, &solver->waves); i++) {
    in_waves += creal(solver->transform[i] * conj(solver->transform[i])) / solver->points;
  }
  fftw_execute(solver->backward);
  for (ptrdiff_t i = 0; i < points; i++) {
    const double complex original = random_value(parameters, locate(parameters, &solver->space, i, at));
    worst = worse(worst, cabs(solver->field[i] / solver->points - original));
  }
  *energy_error = worse(0, fabs(over_ranks(in_waves, MPI_SUM) / over_ranks(in_space, MPI_SUM) - 1));
  *error = over_ranks(worst, MPI_MAX);
}

double solve(const parameters_t* parameters, solver_t* solver) {
  const ptrdiff_t waves = local_points(parameters, &solver->waves);
  set_exact_state(parameters, solver);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < parameters->steps; step++) {
    fftw_execute(solver->forward);
    for (ptrdiff_t i = 0; i < waves; i++) solver->transform[i] *= solver->factors[i];
    fftw_execute(solver->backward);
  }
  return over_ranks(MPI_Wtime() - begin, MPI_MAX);
}

double state_error(const parameters_t* parameters, solver_t* solver, uint64_t* checksum) {
  double worst = 0;
  uint64_t mine = 0;
  for (ptrdiff_t i = 0; i < local_points(parameters, &solver->space); i++) {
    int at[kMostDimensions];
    uint64_t bits[2];
    const uint64_t place = locate(parameters, &solver->space, i, at);
    const double complex exact = exact_state(parameters, solver, at, parameters->time * parameters->steps);
    worst = worse(worst, cabs(solver->field[i] - exact));
    memcpy(bits, &solver->field[i], sizeof bits);
    mine += mix(bits[0] ^ mix(2 * place)) + mix(bits[1] ^ mix(2 * place + 1));
  }
  MPI_Allreduce(&mine, checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return over_ranks(worst, MPI_MAX);
}
