// SPDX-License-Identifier: BSD-3-Clause
// A rank that need not wait for others in a collective doesn't because hocket sets its communicator up: it sends a
// message afterwards, which the others receive before they call the collective. The standard calls such programs
// unsafe, and every MPI runs them.
#include <unistd.h>

#include "check.h"

enum { kCount = 4 };

typedef struct Collective {
  const char* name;
  int is_from_root;  // its root need not wait, else everybody else
  void (*call)(MPI_Comm comm, int word);
} Collective;

static int all[64];

static void broadcast(MPI_Comm comm, int word) {
  int data[kCount] = {world_rank == 0 ? word : -1};
  MPI_Bcast(data, kCount, MPI_INT, 0, comm);
  CHECK(data[0] == word, "broadcast %d instead of %d", data[0], word);
}

static void reduce(MPI_Comm comm, int word) {
  int mine = word, sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  CHECK(world_rank != 0 || sum == word * world_size, "sum %d", sum);
}

static void gather(MPI_Comm comm, int word) {
  int mine = word + world_rank;
  MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
  for (int i = 0; i < world_size && world_rank == 0; ++i) CHECK(all[i] == word + i, "block %d: %d", i, all[i]);
}

static void scatter(MPI_Comm comm, int word) {
  int mine = -1;
  for (int i = 0; i < world_size; ++i) all[i] = word + i;
  MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, 0, comm);
  CHECK(mine == word + world_rank, "block %d", mine);
}

// Who goes ahead sends a word to each of the others, who call the collective only when they have it.
static void run_ahead(const Collective* collective, int round) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int is_ahead = (world_rank == 0) == collective->is_from_root;
  const int first = collective->is_from_root ? 1 : 0, last = collective->is_from_root ? world_size : 1;
  int word = 1;
  for (int from = 0; from < world_size && !is_ahead; ++from) {
    if ((from == 0) == collective->is_from_root)
      MPI_Recv(&word, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  collective->call(comm, 100 * round);
  for (int to = first; to < last && is_ahead; ++to) MPI_Send(&word, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  alarm(60);  // a hang is the failure that is looked for
  const Collective collectives[] = {
      {"broadcast", 1, broadcast}, {"scatter", 1, scatter}, {"reduce", 0, reduce}, {"gather", 0, gather}};
  for (int i = 0; i < (int)(sizeof collectives / sizeof *collectives); ++i) {
    for (int round = 0; round < 3; ++round) run_ahead(&collectives[i], round);
  }
  return finish("running_ahead");
}
