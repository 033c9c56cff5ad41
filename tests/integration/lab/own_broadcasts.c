/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes by multicast in a program that calls hocket's C API, with an MPI to carry its messages: broadcasts that
 * block and several that are started at a time, all-reductions and barriers, on all ranks and on halves of them that go
 * again at once. Everything that arrives is checked.
 *   own_broadcasts ROUNDS */
#include <stdlib.h>
#include <string.h>

#include "comm_over_mpi.h"

enum { kStarted = 5, kMost = 60000, kRoundsOfHalves = 7 };

static int rank, size, wrong;

static unsigned char byte_of(int what, int at) { return (unsigned char)(what * 7 + at * 3 + at / 251); }

static void fill(unsigned char* buffer, int what, int bytes, int is_root) {
  for (int at = 0; at < kMost; ++at) buffer[at] = is_root && at < bytes ? byte_of(what, at) : 0x5a;
}

static void look(const unsigned char* buffer, int what, int bytes) {
  for (int at = 0; at < kMost; ++at) {
    if (buffer[at] == (at < bytes ? byte_of(what, at) : 0x5a)) continue;
    fprintf(stderr, "rank %d: message %d: byte %d of %d is wrong\n", rank, what, at, bytes);
    ++wrong;
    return;
  }
}

static void round_of(hocket_comm_t* comm, int self, int ranks, int round) {
  static unsigned char buffers[kStarted + 1][kMost];
  hocket_request_t* started[kStarted];
  int bytes[kStarted + 1];
  for (int i = 0; i <= kStarted; ++i) {
    const int what = round * 10 + i;
    const int root = (round + i) % ranks;
    bytes[i] = (what * 7691) % (i % 2 == 0 ? 3000 : kMost + 1);
    fill(buffers[i], what, bytes[i], self == root);
    if (i == kStarted) break;
    CHECK(hocket_broadcast_start(comm, buffers[i], (size_t)bytes[i], HOCKET_BYTE, root, &started[i]));
  }
  CHECK(hocket_broadcast(comm, buffers[kStarted], (size_t)bytes[kStarted], HOCKET_BYTE, (round + kStarted) % ranks));
  long sum = self + round;
  CHECK(hocket_allreduce(comm, HOCKET_IN_PLACE, &sum, 1, HOCKET_INT64, HOCKET_SUM));
  if (sum != (long)ranks * (ranks - 1) / 2 + (long)ranks * round) ++wrong;
  /* The last one first. */
  for (int i = kStarted - 1; i >= 0; --i) CHECK(hocket_wait(&started[i]));
  for (int i = 0; i <= kStarted; ++i) look(buffers[i], round * 10 + i, bytes[i]);
  CHECK(hocket_barrier(comm));
}

static void on_halves(hocket_comm_t* comm, int round) {
  hocket_comm_t* half = NULL;
  const int color = rank * 2 >= size;
  const int first = color ? (size + 1) / 2 : 0;
  CHECK(hocket_comm_split(comm, color, rank, &half));
  for (int i = 0; i < kRoundsOfHalves; ++i)
    round_of(half, rank - first, color ? size - first : (size + 1) / 2, round + 100 * (color + 1) + i);
  CHECK(hocket_comm_destroy(half));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  comm_over_mpi_t over;
  open_comm(&over);
  hocket_comm_t* comm = over.comm;
  rank = over.rank;
  size = over.size;
  for (int round = 0; round < rounds; ++round) {
    round_of(comm, rank, size, round);
    if (round % 25 == 24) on_halves(comm, round);
  }
  close_comm(&over);
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d rounds, %d wrong\n", rounds, all);
  MPI_Finalize();
  return 0;
}
