// SPDX-License-Identifier: BSD-3-Clause
// hocket's C API over several nodes, with MPI to carry messages: barriers that are started, and waited for later.
//
//   mpicc barriers_ahead.c $(pkg-config --cflags --libs hocket) -o barriers_ahead
//   mpirun -n 4 ./barriers_ahead [ROUNDS] [--one-clock]
//
// Ranks compute for a random time in each round, so somebody is always late. First each round ends with a barrier. Then
// a barrier is started after each round and waited for kAhead rounds later: with NIC engines on the nodes
// (`hocket nic up`) it goes on while ranks compute, so who waits for it waits for who is far behind only.
//
// --one-clock: the nodes share a clock, as those of a lab do. Then it is checked that each barrier held: nobody was
// through with it before all had started it.
#include <hocket/mpi_wire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kAhead = 8, kLongestUs = 200 };

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void compute(unsigned* seed) {
  const double until = now_us() + rand_r(seed) % kLongestUs;
  while (now_us() < until) continue;
}

// Ends the job with the reason if a call has failed.
static void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

static int allgather(const void* send, void* receive, size_t bytes, void* user) {
  (void)user;
  return MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
}

// When this rank began and was through with each barrier.
typedef struct {
  int rounds;
  double *began, *through;
} times_t;

// Both give the mean time in hocket's calls, a round, in microseconds.
static double one_by_one(hocket_comm_t* comm, times_t* times, unsigned seed) {
  double inside = 0;
  for (int i = 0; i < times->rounds; i++) {
    compute(&seed);
    times->began[i] = now_us();
    CHECK(hocket_barrier(comm));
    times->through[i] = now_us();
    inside += times->through[i] - times->began[i];
  }
  return inside / times->rounds;
}

static double ahead(hocket_comm_t* comm, times_t* times, unsigned seed) {
  hocket_request_t* started[kAhead] = {NULL};
  double inside = 0;
  for (int i = 0; i < times->rounds + kAhead; i++) {
    const double before = now_us();
    if (i >= kAhead) {
      CHECK(hocket_wait(&started[i % kAhead]));
      times->through[i - kAhead] = now_us();
    }
    if (i < times->rounds) {
      times->began[i] = now_us();
      CHECK(hocket_barrier_start(comm, &started[i % kAhead]));
    }
    inside += now_us() - before;
    if (i < times->rounds) compute(&seed);
  }
  return inside / times->rounds;
}

// How many barriers somebody was through with before the last had started; known to rank 0.
static int broken(const times_t* times) {
  const size_t bytes = (size_t)times->rounds * sizeof(double);
  double* last = malloc(bytes);
  double* first = malloc(bytes);
  int count = 0;
  if (last == NULL || first == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Reduce(times->began, last, times->rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(times->through, first, times->rounds, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  for (int i = 0; i < times->rounds; i++) count += first[i] < last[i];
  free(last);
  free(first);
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, one_clock = 0, wrong = 0;
  times_t times = {.rounds = 1000};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--one-clock") == 0)
      one_clock = 1;
    else
      times.rounds = atoi(argv[i]);
  }
  if (times.rounds <= 0) {
    if (rank == 0) fprintf(stderr, "usage: %s [ROUNDS] [--one-clock]\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  times.began = calloc((size_t)times.rounds, sizeof(double));
  times.through = calloc((size_t)times.rounds, sizeof(double));
  if (times.began == NULL || times.through == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  hocket_mpi_wire_t mpi;
  CHECK(hocket_mpi_wire_open(&mpi, MPI_COMM_WORLD));
  hocket_context_options_t options = {.struct_size = sizeof options, .wire = &mpi.wire};
  const hocket_bootstrap_t bootstrap = {.rank = rank, .size = size, .allgather = allgather};
  hocket_context_t* context = NULL;
  hocket_comm_t* comm = NULL;
  CHECK(hocket_context_create(&options, &context));
  CHECK(hocket_comm_create(context, &bootstrap, &comm));

  double mean[2], all[2];
  const unsigned seed = (unsigned)rank + 1;
  mean[0] = one_by_one(comm, &times, seed);
  wrong += broken(&times);
  mean[1] = ahead(comm, &times, seed);
  wrong += broken(&times);
  MPI_Reduce(mean, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    char text[16384];
    CHECK(hocket_explain(comm, "barrier", 0, text, sizeof text));
    printf("%s\n", text);
    printf("a round on %d ranks, mean time in hocket's calls: %.1f us one by one, %.1f us %d rounds ahead\n", size,
           all[0] / size, all[1] / size, kAhead);
    if (one_clock) printf("%d barriers did not hold\n", wrong);
  }

  CHECK(hocket_comm_destroy(comm));
  CHECK(hocket_context_destroy(context));
  hocket_mpi_wire_close(&mpi);
  free(times.began);
  free(times.through);
  MPI_Finalize();
  return rank == 0 && one_clock && wrong != 0;
}
