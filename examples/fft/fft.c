// SPDX-License-Identifier: BSD-3-Clause
// The program around the solver: its options, what it checks, and what it says. What it solves is told in solver.h.
//
//   mpicc -O2 fft.c solver.c -lfftw3_mpi -lfftw3 -lm -o fft && mpirun -n 4 ./fft --help
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver.h"

static const struct {
  const char* name;
  unsigned flag;
} kPlans[] = {{"estimate", FFTW_ESTIMATE}, {"measure", FFTW_MEASURE}, {"patient", FFTW_PATIENT}};

static void usage(FILE* stream, const char* program) {
  fprintf(stream,
          "usage: %s [--size AxB[xC]] [--steps N] [--order NAME] [--plan NAME] [--seed N] [--time X]\n"
          "Moves a quantum particle on a torus by transforms of FFTW's MPI library, and checks the result.\n"
          "Run it by mpirun or mpiexec.\n"
          "  --size AxB[xC]  points in two or three dimensions, 2 to 65536 each (default 256x256)\n"
          "  --steps N       a transform and one back each (default 100)\n"
          "  --order NAME    transposed: leave the transform as FFTW finds it, or natural: transpose it once more\n"
          "                  (default transposed, for which FFTW uses MPI_Alltoall or MPI_Alltoallv)\n"
          "  --plan NAME     estimate, measure or patient: how long FFTW looks for a fast plan (default estimate,\n"
          "                  which is the same plan in every run)\n"
          "  --seed N        another initial state (default 1)\n"
          "  --time X        of a step, more than 0 and at most 1 (default 0.001)\n"
          "The last line is for scripts: checksum has every bit of the state, seconds is the slowest rank's time.\n",
          program);
}

static int read_number(const char* text, long lowest, long highest, long* number) {
  char* end = NULL;
  *number = strtol(text, &end, 10);
  return end != text && *end == '\0' && *number >= lowest && *number <= highest;
}

static int read_size(const char* text, parameters_t* parameters) {
  int* size = parameters->size;
  char rest = '\0';
  size[2] = 1;
  const int flat = sscanf(text, "%dx%d%c", &size[0], &size[1], &rest) == 2;
  parameters->dimensions = flat ? 2 : 3;
  if (!flat && sscanf(text, "%dx%dx%d%c", &size[0], &size[1], &size[2], &rest) != 3) return 0;
  for (int axis = 0; axis < parameters->dimensions; axis++) {
    if (size[axis] < 2 || size[axis] > 65536) return 0;
  }
  return 1;
}

// 0 if the value of an option is no good, or there is no such option.
static int read_option(const char* option, const char* value, parameters_t* parameters) {
  long number = 0;
  if (strcmp(option, "--size") == 0) return read_size(value, parameters);
  if (strcmp(option, "--steps") == 0) {
    const int good = read_number(value, 1, INT_MAX, &number);
    parameters->steps = (int)number;
    return good;
  }
  if (strcmp(option, "--seed") == 0) {
    const int good = read_number(value, 0, LONG_MAX, &number);
    parameters->seed = (uint64_t)number;
    return good;
  }
  if (strcmp(option, "--time") == 0) {
    char* end = NULL;
    parameters->time = strtod(value, &end);
    return *end == '\0' && parameters->time > 0 && parameters->time <= 1;
  }
  if (strcmp(option, "--order") == 0) {
    parameters->natural = strcmp(value, "natural") == 0;
    return parameters->natural || strcmp(value, "transposed") == 0;
  }
  if (strcmp(option, "--plan") != 0) return 0;
  for (size_t i = 0; i < sizeof kPlans / sizeof kPlans[0]; i++) {
    if (strcmp(value, kPlans[i].name) != 0) continue;
    parameters->plan = kPlans[i].flag;
    return 1;
  }
  return 0;
}

// Rank 0 reads the command line, as only it is promised one. Gives the exit status, or -1 to go on.
static int read_parameters(int argc, char** argv, parameters_t* parameters) {
  *parameters = (parameters_t){.dimensions = 2, .size = {256, 256, 1}, .steps = 100, .plan = FFTW_ESTIMATE, .seed = 1};
  parameters->time = 0.001;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      usage(stdout, argv[0]);
      return 0;
    }
    if (i + 1 < argc && read_option(argv[i], argv[i + 1], parameters)) continue;
    fprintf(stderr, "fft: can't understand %s %s\n", argv[i], i + 1 < argc ? argv[i + 1] : "without a value");
    usage(stderr, argv[0]);
    return 2;
  }
  return -1;
}

// By what the plan exchanges data between ranks, as FFTW itself describes the plan.
static const char* transposes(fftw_plan plan, int ranks) {
  if (ranks == 1) return "no message";
  char* text = fftw_sprint_plan(plan);
  const char* means = "no message";
  if (text == NULL) return "unknown";
  if (strstr(text, "mpi-transpose-alltoall/e") != NULL) {
    means = "MPI_Alltoall";
  } else if (strstr(text, "mpi-transpose-alltoall") != NULL) {
    means = "MPI_Alltoallv";
  } else if (strstr(text, "mpi-transpose") != NULL) {
    means = "MPI_Sendrecv";
  }
  free(text);
  return means;
}

// Prints a check; 0 if it fails.
static int passes(const solver_t* solver, const char* what, double error, double limit) {
  const int good = error <= limit;
  if (solver->rank == 0) printf("%-46s%10.1e%12.0e  %s\n", what, error, limit, good ? "right" : "WRONG");
  return good;
}

static int run(const parameters_t* parameters, solver_t* solver) {
  const int* size = parameters->size;
  const int head = solver->rank == 0;
  set_up(parameters, solver);
  char text[64];
  snprintf(text, sizeof text, parameters->dimensions == 2 ? "%dx%d" : "%dx%dx%d", size[0], size[1], size[2]);
  if (head) {
    printf("%s points on %d ranks, %s order, %d steps; FFTW transposes by %s, back by %s\n\n", text, solver->ranks,
           parameters->natural ? "natural" : "transposed", parameters->steps,
           transposes(solver->forward, solver->ranks), transposes(solver->backward, solver->ranks));
    printf("%-46s%10s%12s\n", "check", "error", "at most");
  }
  double energy = 0, trip = 0;
  uint64_t checksum = 0;
  int good = passes(solver, "transform of plane waves against theory", transform_error(parameters, solver), 1e-13);
  round_trip(parameters, solver, &energy, &trip);
  good &= passes(solver, "energy of a random field in space and waves", energy, 1e-12);
  good &= passes(solver, "a random field, there and back", trip, 1e-13);
  const double seconds = solve(parameters, solver);
  good &= passes(solver, "state after the last step against theory", state_error(parameters, solver, &checksum),
                 1e-13 * (10 + parameters->steps));
  if (head && good) {
    printf("\nranks %d size %s steps %d checksum %016llx seconds %.6f\n", solver->ranks, text, parameters->steps,
           (unsigned long long)checksum, seconds);
  }
  tear_down(solver);
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int status = -1;
  parameters_t parameters;
  solver_t solver = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &solver.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &solver.ranks);
  if (solver.rank == 0) status = read_parameters(argc, argv, &parameters);
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status < 0) {
    MPI_Bcast(&parameters, (int)sizeof parameters, MPI_BYTE, 0, MPI_COMM_WORLD);
    status = run(&parameters, &solver);
  }
  fftw_mpi_cleanup();
  MPI_Finalize();
  return status;
}
