// SPDX-License-Identifier: BSD-3-Clause
// A spectral solver over FFTW's own MPI transform: a quantum particle that moves freely on a torus of two or three
// dimensions (the Schroedinger equation without a potential), stepped by transform, phase, and transform back.
//
// All its heavy communication is inside FFTW's library, which transposes the field by MPI_Alltoall or MPI_Alltoallv, or
// by MPI_Sendrecv where its planner prefers that. Neither this program nor that library knows of hocket.
//
//   mpicc -O2 fft.c -lfftw3_mpi -lfftw3 -lm -o fft && mpirun -n 4 ./fft --help
//
// What is checked: the transform of a sum of plane waves, which is known; a random field's energy in space and in waves
// (Parseval), and that it comes back from there and back again; the state after the last step, also known.
#ifndef HOCKET_EXAMPLES_FFT_SOLVER_H
#define HOCKET_EXAMPLES_FFT_SOLVER_H

#include <complex.h>
// After complex.h, so that FFTW uses C's complex numbers.
#include <fftw3-mpi.h>
#include <stddef.h>
#include <stdint.h>

enum { kMostDimensions = 3, kWaves = 4 };

typedef struct {
  int dimensions;
  int size[kMostDimensions];
  int steps;
  int natural;    // the transform's layout: that of the field, which costs one more transpose, or else transposed
  unsigned plan;  // FFTW's flag: how long to look for a plan
  uint64_t seed;
  double time;  // of a step
} parameters_t;

// How a rank's part lies in memory: the range of the outermost coordinate, and which coordinates these are.
typedef struct {
  ptrdiff_t count, first;
  int axis[kMostDimensions];
} layout_t;

typedef struct {
  int rank, ranks;
  double points;          // of the whole torus
  layout_t space, waves;  // of the field and of its transform
  double complex *field, *transform, *factors;
  fftw_plan forward, backward;
  int wave[kWaves][kMostDimensions];
  double complex amplitude[kWaves];
} solver_t;

// All are collective over MPI_COMM_WORLD but tear_down. Plans are made, and overwrite the fields, in set_up, which ends
// all ranks if it can't.
void set_up(const parameters_t* parameters, solver_t* solver);
void tear_down(solver_t* solver);
// The largest difference between the transform of plane waves and what it must be, in units of the number of points.
double transform_error(const parameters_t* parameters, solver_t* solver);
// A random field there and back: how far its energy differs on the way, of 1, and how far it is off afterwards.
void round_trip(const parameters_t* parameters, solver_t* solver, double* energy_error, double* error);
// Runs all steps; gives the seconds of the slowest rank.
double solve(const parameters_t* parameters, solver_t* solver);
// How far the state after the last step is off, and a number that every bit of it and its place go into.
double state_error(const parameters_t* parameters, solver_t* solver, uint64_t* checksum);

#endif
