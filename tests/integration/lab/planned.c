/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent barriers, broadcasts, reductions and sums of several nodes, on two communicators: each rank starts them in
 * an order of its own, waits for them in another, and changes what it gives from round to round.
 *   planned CALLS ROUNDS [LONGS]   so many of each communicator, of so many longs */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if MPI_VERSION < 4 && defined(OMPI_MAJOR_VERSION)
#include <mpi-ext.h>
#endif

enum { kMost = 20, kMostLongs = 1024, kLimitSeconds = 60 };

static int rank, size, longs, wrong;
static long in[2 * kMost][kMostLongs], out[2 * kMost][kMostLongs];
static MPI_Request requests[2 * kMost];
static uint64_t own_state;

static int draw(int below) {
  own_state = own_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((own_state >> 33) % (uint64_t)below);
}

static void on_alarm(int number) {
  (void)number;
  static const char text[] = "planned hangs\n";
  _exit(write(2, text, sizeof text - 1) > 0 ? 1 : 2);
}

static void shuffle(int* order, int count) {
  for (int i = 0; i < count; ++i) {
    const int other = draw(i + 1);
    order[i] = order[other];
    order[other] = i;
  }
}

static int kind_of(int i) { return i % 4; }
static int root_of(int i) { return i % size; }
static long value_of(int from, int i, int round, int k) { return from * 7L + i * 3L + round * 11L + k; }

static void plan(int i, MPI_Comm comm) {
  MPI_Request* const request = &requests[i];
  const int root = root_of(i);
  if (kind_of(i) == 0) MPI_Barrier_init(comm, MPI_INFO_NULL, request);
  if (kind_of(i) == 1) MPI_Bcast_init(out[i], longs, MPI_LONG, root, comm, MPI_INFO_NULL, request);
  if (kind_of(i) == 2) MPI_Reduce_init(in[i], out[i], longs, MPI_LONG, MPI_SUM, root, comm, MPI_INFO_NULL, request);
  if (kind_of(i) == 3) MPI_Allreduce_init(in[i], out[i], longs, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, request);
}

static void fill(int i, int round) {
  for (int k = 0; k < longs; ++k) {
    in[i][k] = value_of(rank, i, round, k);
    out[i][k] = kind_of(i) == 1 && rank == root_of(i) ? value_of(rank, i, round, k) : -1;
  }
}

static void look_at(int i, int round) {
  const int is_sum = kind_of(i) == 3 || (kind_of(i) == 2 && rank == root_of(i));
  for (int k = 0; k < longs; ++k) {
    long right = -1;
    if (kind_of(i) == 1) right = value_of(root_of(i), i, round, k);
    if (is_sum) right = 7L * size * (size - 1) / 2 + size * value_of(0, i, round, k);
    if (out[i][k] == right) continue;
    if (wrong++ < 5)
      fprintf(stderr, "rank %d, round %d: call %d of kind %d has %ld, not %ld\n", rank, round, i, kind_of(i), out[i][k],
              right);
  }
}

int main(int argc, char** argv) {
  int order[2 * kMost], all = 0;
  MPI_Comm comms[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int each = argc > 1 && atoi(argv[1]) < kMost ? atoi(argv[1]) : kMost, rounds = argc > 2 ? atoi(argv[2]) : 10;
  longs = argc > 3 && atoi(argv[3]) < kMostLongs ? atoi(argv[3]) : 3;
  own_state = 977u + (uint64_t)rank * 31u;
  signal(SIGALRM, on_alarm);
  alarm(kLimitSeconds);
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < 2; ++i) MPI_Barrier(comms[i]); /* which sets them up */
  for (int i = 0; i < 2 * each; ++i) plan(i, comms[i % 2]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 2 * each; ++i) fill(i, round);
    shuffle(order, 2 * each);
    if (round % 3 == 0) {
      MPI_Request some[2 * kMost];
      for (int i = 0; i < 2 * each; ++i) some[i] = requests[order[i]];
      MPI_Startall(2 * each, some);
    } else {
      for (int i = 0; i < 2 * each; ++i) MPI_Start(&requests[order[i]]);
    }
    if (round % 2 == 0) {
      MPI_Waitall(2 * each, requests, MPI_STATUSES_IGNORE);
    } else {
      shuffle(order, 2 * each);
      for (int i = 0; i < 2 * each; ++i) MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 * each; ++i) look_at(i, round);
    if (round % 4 == 3) { /* some go, and others come in their stead */
      for (int i = 0; i < each; ++i) MPI_Request_free(&requests[i]);
      for (int i = 0; i < each; ++i) plan(i, comms[i % 2]);
    }
  }
  for (int i = 0; i < 2 * each; ++i) MPI_Request_free(&requests[i]);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  if (rank == 0) printf("%d calls %d times: %d wrong\n", 2 * each, rounds, all);
  MPI_Finalize();
  return all != 0;
}
