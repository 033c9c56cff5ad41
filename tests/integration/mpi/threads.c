// SPDX-License-Identifier: BSD-3-Clause
// Threads on different communicators at the same time, under MPI_THREAD_MULTIPLE, and communicators that they make and
// free meanwhile.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 300 };
static MPI_Comm comms[kThreads];
static int wrong[kThreads];

// Of every second element, so that they are packed, with a different count for each pair of ranks.
static void exchange(int me, int round) {
  enum { kMost = 40 };
  int out[16 * kMost], in[16 * kMost], out_counts[16], in_counts[16], places[16];
  MPI_Datatype every_second;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < world_size; ++i) {
    out_counts[i] = (world_rank + i * 3 + round) % (kMost / 2);
    in_counts[i] = (i + world_rank * 3 + round) % (kMost / 2);
    places[i] = i * kMost / 2;
  }
  for (int i = 0; i < world_size * kMost; ++i) out[i] = world_rank * 100 + i / kMost + me, in[i] = -1;
  MPI_Alltoallv(out, out_counts, places, every_second, in, in_counts, places, every_second, comms[me]);
  for (int i = 0; i < world_size * kMost; ++i) {
    const int from = i / kMost, comes = i % 2 == 0 && i % kMost / 2 < in_counts[from];
    if (in[i] != (comes ? from * 100 + world_rank + me : -1)) ++wrong[me];
  }
  MPI_Type_free(&every_second);
}

static void* work(void* argument) {
  const int me = (int)(intptr_t)argument;
  for (int round = 0; round < kRounds; ++round) {
    const int n = 1 + round % 97 * 13;
    long in[1300], out[1300];
    for (int i = 0; i < n; ++i) in[i] = world_rank + i * me + round;
    MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, comms[me]);
    for (int i = 0; i < n; ++i) {
      if (out[i] != (long)world_size * (i * me + round) + (long)world_size * (world_size - 1) / 2) ++wrong[me];
    }
    int value = world_rank == round % world_size ? me * 1000 + round : -1;
    MPI_Bcast(&value, 1, MPI_INT, round % world_size, comms[me]);
    if (value != me * 1000 + round) ++wrong[me];
    exchange(me, round);
    if (round % 100 == 50) {
      MPI_Comm more;
      MPI_Comm_dup(comms[me], &more);
      MPI_Barrier(more);
      MPI_Comm_free(&more);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  native_allreduce = (allreduce_function*)native_function("PMPI_Allreduce");
  if (provided < MPI_THREAD_MULTIPLE) {
    if (world_rank == 0) printf("threads: this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    CHECK(wrong[i] == 0, "thread %d: %d wrong", i, wrong[i]);
    MPI_Comm_free(&comms[i]);
  }
  return finish("threads");
}
