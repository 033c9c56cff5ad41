// SPDX-License-Identifier: BSD-3-Clause
// Vector collectives beside ranks that are late: what goes before one that is passed on by leaders must not be taken
// for done by all, and ranks ask each other how many messages there are even where one has to wait for memory first.
#include <unistd.h>

#include "check.h"

enum { kRounds = 20, kBytes = 4000, kBlock = 8 };

static int* counts;
static int* places;

// Rank 1 broadcasts, and goes on, while rank 2 has not come; a gatherv in between waits for nobody but its root.
static void broadcasts_around_a_gather(int round) {
  static unsigned char data[kBytes];
  char* const all = calloc((size_t)world_size, kBlock);
  const char mine[kBlock] = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 2) usleep(20000);
  for (int i = 0; i < 12; ++i) {
    if (i == 6) MPI_Gatherv(mine, kBlock, MPI_BYTE, all, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    const unsigned char value = (unsigned char)(round * 31 + i + 1);
    memset(data, world_rank == 1 ? value : 0, sizeof data);
    MPI_Bcast(data, kBytes, MPI_BYTE, 1, MPI_COMM_WORLD);
    int wrong = 0;
    for (int k = 0; k < kBytes; ++k) wrong += data[k] != value;
    CHECK(wrong == 0, "round %d, broadcast %d: %d bytes are wrong", round, i, wrong);
  }
  free(all);
}

// Scratch memory is still read by rank 2 when the first alltoallv of a communicator asks for some.
static void first_exchange_behind_collections(int round) {
  enum { kLong = 2000 };
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int* const lengths = calloc((size_t)world_size, sizeof *lengths);
  int* const at = calloc((size_t)world_size, sizeof *at);
  for (int i = 0; i < world_size; ++i) {
    lengths[i] = i == 2 ? 0 : kLong;
    if (i > 0) at[i] = at[i - 1] + lengths[i - 1];
  }
  unsigned char* const mine = malloc(kLong);
  unsigned char* const all = malloc((size_t)world_size * kLong);
  unsigned char* const out = calloc((size_t)world_size, kBlock);
  unsigned char* const in = calloc((size_t)world_size, kBlock);
  MPI_Barrier(comm);
  if (world_rank == 2) usleep(20000);
  for (int i = 0; i < 3; ++i) {
    memset(mine, round + i + world_rank, kLong);
    MPI_Allgatherv(mine, lengths[world_rank], MPI_BYTE, all, lengths, at, MPI_BYTE, comm);
    int wrong = 0;
    for (int rank = 0; rank < world_size; ++rank)
      for (int k = 0; k < lengths[rank]; ++k) wrong += all[at[rank] + k] != (unsigned char)(round + i + rank);
    CHECK(wrong == 0, "round %d, allgatherv %d: %d bytes are wrong", round, i, wrong);
  }
  for (int i = 0; i < 5; ++i) {
    for (int rank = 0; rank < world_size; ++rank) memset(out + kBlock * rank, round + 10 * world_rank + rank, kBlock);
    MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
    for (int rank = 0; rank < world_size; ++rank)
      CHECK(in[kBlock * rank + kBlock - 1] == (unsigned char)(round + 10 * rank + world_rank),
            "round %d, alltoallv %d: what came from %d is wrong", round, i, rank);
  }
  MPI_Comm_free(&comm);
  free(lengths), free(at), free(mine), free(all), free(out), free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start_after_init();
  set_up(MPI_COMM_WORLD);
  counts = calloc((size_t)world_size, sizeof *counts);
  places = calloc((size_t)world_size, sizeof *places);
  for (int i = 0; i < world_size; ++i) {
    counts[i] = kBlock;
    places[i] = kBlock * i;
  }
  for (int round = 0; round < kRounds; ++round) {
    broadcasts_around_a_gather(round);
    first_exchange_behind_collections(round);
  }
  free(counts);
  free(places);
  return finish("late_vectors");
}
