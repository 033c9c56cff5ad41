// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls among neighbours on communicators with nothing else, or hardly anything else: whoever carries them
// out, what arrives is right, and hocket does in the end. Where only the ranks together know a graph, that is once all
// have waited for each other in some call on the communicator.
//
//   neighbours_taken_over [CALLS]   more than a takeover takes, twice over
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kMost = 4, kElements = 3, kLimitSeconds = 100 };

unsigned long long hocket_mpi_carried_out(void) __attribute__((weak));

// A ring: each rank sends to the one before it and the one behind it.
static int before, behind, salt;

static long value_of(int from, int to, int index) { return salt + from * 100000L + to * 1000L + index; }

static void exchange(MPI_Comm comm) {
  long in[2][kElements], out[2][kElements];
  const int to[] = {before, behind};
  ++salt;
  memset(out, 0xee, sizeof out);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < kElements; ++k) in[i][k] = value_of(world_rank, to[i], k);
  if (salt % 8 == 0 && world_rank == salt / 8 % world_size) usleep(200);
  MPI_Request request;
  CHECK(MPI_Ineighbor_alltoall(in, kElements, MPI_LONG, out, kElements, MPI_LONG, comm, &request) == MPI_SUCCESS,
        "call %d", salt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < kElements; ++k)
      CHECK(out[i][k] == value_of(to[i], world_rank, k), "call %d, block %d: %ld", salt, i, out[i][k]);
}

static unsigned long long carried_out(void) { return hocket_mpi_carried_out != NULL ? hocket_mpi_carried_out() : 0; }

static void expect_hocket(MPI_Comm comm, const char* kind) {
  const unsigned long long start = carried_out();
  exchange(comm);
  if (hocket_mpi_carried_out != NULL) CHECK(carried_out() == start + 1, "%s", kind);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start_after_init();
  alarm(kLimitSeconds);
  before = (world_rank + world_size - 1) % world_size;
  behind = (world_rank + 1) % world_size;
  const int ring[] = {1}, sources[] = {before, behind};
  int index[64], edges[128];
  for (int rank = 0; rank < world_size; ++rank) {
    index[rank] = 2 * (rank + 1);
    edges[2 * rank] = (rank + world_size - 1) % world_size;
    edges[2 * rank + 1] = (rank + 1) % world_size;
  }
  // The job meets after some of the calls of these.
  MPI_Comm grid, graph, spread;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, ring, 0, &grid);
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, sources, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &spread);
  const MPI_Comm all[] = {grid, graph, spread};
  const int calls = argc > 1 ? atoi(argv[1]) : 40;
  for (int i = 0; i < calls; ++i) {
    if (i == calls / 2) set_up(MPI_COMM_WORLD);
    for (int k = 0; k < 3; ++k) exchange(all[k]);
    meet_unseen();
  }
  expect_hocket(grid, "on a grid");
  expect_hocket(graph, "on a graph");
  const unsigned long long start = carried_out();
  exchange(spread);
  CHECK(carried_out() == start, "ranks know a distributed graph that they have not told each other");
  MPI_Barrier(spread);
  expect_hocket(spread, "on a distributed graph");
  for (int k = 0; k < 3; ++k) MPI_Comm_free((MPI_Comm*)&all[k]);

  // Set up by a call of another kind, of which the last comes before any among neighbours.
  for (int kind = 0; kind < 3; ++kind) {
    MPI_Comm comm;
    if (kind == 0)
      MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, ring, 0, &comm);
    else
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, sources, MPI_UNWEIGHTED,
                                     MPI_INFO_NULL, 0, &comm);
    if (kind != 2) exchange(comm);
    MPI_Barrier(comm);
    expect_hocket(comm, kind == 0 ? "on a grid, after a barrier" : "on a distributed graph, after a barrier");
    long blocks[2], mine = world_rank;
    MPI_Neighbor_allgather(&mine, 1, MPI_LONG, blocks, 1, MPI_LONG, comm);
    CHECK(blocks[0] == before && blocks[1] == behind, "%ld, %ld", blocks[0], blocks[1]);
    MPI_Comm_free(&comm);
  }
  return finish("neighbours_taken_over");
}
