/* SPDX-License-Identifier: BSD-3-Clause */
/* Many more short calls under way at a time than engines take: barriers, sums, broadcasts and reductions, on two
 * communicators. Rank 0 starts them all and then waits for what its peer does only when all of them are over there; in
 * the end each rank waits for them in an order of its own.
 *   many_started CALLS ROUNDS [SEED [threads]]   "threads": by MPI_THREAD_MULTIPLE */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 2000, kLongs = 5, kLimitSeconds = 30, kTag = 3 };

typedef enum {
  kReceive,
  kSynchronousSend,
  kProbe,
  kWaitForReceive,
  kExchange,
  kBarrier,
  kDuplicate,
  kNothing,
  kWays
} Way;
static const char* const way_names[] = {"MPI_Recv",     "MPI_Ssend",   "MPI_Probe",    "MPI_Wait of a message",
                                        "MPI_Sendrecv", "MPI_Barrier", "MPI_Comm_dup", "the calls themselves"};

static int rank, size, calls, wrong;
static MPI_Comm comms[2], another;
static MPI_Request requests[kMost];
static int kinds[kMost], roots[kMost];
static long in[kMost][kLongs], out[kMost][kLongs];
static char doing[120];
static uint64_t common_state, own_state;

static int draw(uint64_t* state, int below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int)((*state >> 33) % (uint64_t)below);
}

static void on_alarm(int number) {
  (void)number;
  static const char text[] = "many_started hangs: ";
  ssize_t written = write(2, text, sizeof text - 1);
  written += write(2, doing, strlen(doing));
  _exit(written > 0 ? 1 : 2);
}

static void begin(int i) {
  const int which = draw(&common_state, 2), of = draw(&common_state, size);
  const MPI_Comm comm = comms[which];
  MPI_Request* const request = &requests[i];
  kinds[i] = draw(&common_state, 4);
  roots[i] = which == 0 ? of : size - 1 - of; /* in the world */
  for (int k = 0; k < kLongs; ++k) {
    in[i][k] = rank * 7 + i * k;
    out[i][k] = kinds[i] == 1 && rank == roots[i] ? i + k : -1;
  }
  if (kinds[i] == 0) MPI_Ibarrier(comm, request);
  if (kinds[i] == 1) MPI_Ibcast(out[i], kLongs, MPI_LONG, of, comm, request);
  if (kinds[i] == 2) MPI_Iallreduce(in[i], out[i], kLongs, MPI_LONG, MPI_SUM, comm, request);
  if (kinds[i] == 3) MPI_Ireduce(in[i], out[i], kLongs, MPI_LONG, MPI_SUM, of, comm, request);
}

static void look_at(int i) {
  for (int k = 0; k < kLongs; ++k) {
    long right = -1;
    if (kinds[i] == 1) right = i + k;
    if (kinds[i] == 2 || (kinds[i] == 3 && rank == roots[i])) right = 7L * size * (size - 1) / 2 + (long)size * i * k;
    if (out[i][k] == right) continue;
    if (wrong++ < 5)
      fprintf(stderr, "rank %d, %s: call %d of kind %d has %ld, not %ld\n", rank, doing, i, kinds[i], out[i][k], right);
  }
}

/* Rank 0 comes here with all calls unfinished, the others when all are over. */
static void wait_elsewhere(Way way) {
  int word = 0, other = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  if (way == kBarrier) MPI_Barrier(another);
  if (way == kDuplicate) MPI_Comm_dup(another, &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  if (rank > 1 || way >= kBarrier) return;
  if (way == kExchange)
    MPI_Sendrecv(&word, 1, MPI_INT, 1 - rank, kTag, &other, 1, MPI_INT, 1 - rank, kTag, another, MPI_STATUS_IGNORE);
  else if (way == kSynchronousSend && rank == 0)
    MPI_Ssend(&word, 1, MPI_INT, 1, kTag, another);
  else if (way == kSynchronousSend)
    MPI_Recv(&word, 1, MPI_INT, 0, kTag, another, MPI_STATUS_IGNORE);
  else if (rank == 1)
    MPI_Send(&word, 1, MPI_INT, 0, kTag, another);
  if (rank == 1) return;
  if (way == kProbe) MPI_Probe(1, kTag, another, MPI_STATUS_IGNORE);
  if (way == kReceive || way == kProbe) MPI_Recv(&word, 1, MPI_INT, 1, kTag, another, MPI_STATUS_IGNORE);
  if (way != kWaitForReceive) return;
  MPI_Irecv(&word, 1, MPI_INT, 1, kTag, another, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* By one function after the other, in an order of this rank's. */
static void end_all(void) {
  static int order[kMost], at[kMost];
  static MPI_Request some[kMost];
  for (int i = 0; i < calls; ++i) {
    const int other = draw(&own_state, i + 1);
    order[i] = order[other];
    order[other] = i;
  }
  if (draw(&own_state, 3) == 0)
    for (int i = 0; i < calls; ++i) order[i] = calls - 1 - i;
  for (int left = calls; left > 0;) {
    const int take = 1 + draw(&own_state, left < 40 ? left : 40), way = draw(&own_state, 6);
    const int* const last = order + left - take;
    int done = 0, one = 0;
    for (int i = 0; i < take; ++i) some[i] = requests[last[i]];
    for (int i = 0; way == 0 && i < take; ++i) MPI_Wait(&some[i], MPI_STATUS_IGNORE);
    if (way == 1) MPI_Waitall(take, some, MPI_STATUSES_IGNORE);
    for (int i = 0; way == 2 && i < take; ++i) MPI_Waitany(take, some, &one, MPI_STATUS_IGNORE);
    while (way == 3 && done != MPI_UNDEFINED) MPI_Waitsome(take, some, &done, at, MPI_STATUSES_IGNORE);
    while (way == 4 && !done) MPI_Testall(take, some, &done, MPI_STATUSES_IGNORE);
    for (int i = 0; way == 5 && i < take; ++i)
      for (done = 0; !done;) MPI_Test(&some[i], &done, MPI_STATUS_IGNORE);
    for (int i = 0; i < take; ++i) {
      wrong += some[i] != MPI_REQUEST_NULL;
      look_at(last[i]);
    }
    left -= take;
  }
}

int main(int argc, char** argv) {
  const int threads = argc > 4 && strcmp(argv[4], "threads") == 0;
  int level = 0, all = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  calls = argc > 1 ? atoi(argv[1]) : 300;
  if (calls > kMost) calls = kMost;
  const int rounds = argc > 2 ? atoi(argv[2]) : kWays;
  common_state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  own_state = common_state + (uint64_t)rank * 977;
  signal(SIGALRM, on_alarm);
  MPI_Comm_dup(MPI_COMM_WORLD, &another);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i == 0 ? rank : -rank, &comms[i]);
    MPI_Barrier(comms[i]);
  }
  MPI_Barrier(another);
  for (int round = 0; round < rounds; ++round) {
    const Way way = (Way)(round % kWays);
    snprintf(doing, sizeof doing, "rank %d in round %d, %s\n", rank, round, way_names[way]);
    alarm(kLimitSeconds);
    for (int i = 0; i < calls; ++i) begin(i);
    if (rank == 0) wait_elsewhere(way);
    end_all();
    if (rank != 0) wait_elsewhere(way);
  }
  alarm(kLimitSeconds);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  MPI_Comm_free(&another);
  if (rank == 0) printf("%d calls %d times: %d wrong\n", calls, rounds, all);
  MPI_Finalize();
  return all != 0;
}
