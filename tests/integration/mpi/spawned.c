// SPDX-License-Identifier: BSD-3-Clause
// A job that starts another one of itself, and the communicators that both are in.
#include "check.h"

enum { kCalls = 60, kElements = 3000, kChildren = 2 };

static void call_collectives(MPI_Comm comm, int calls) {
  static int mine[kElements], all[kElements], everything[8 * kElements];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int call = 0; call < calls; ++call) {
    MPI_Barrier(comm);
    for (int i = 0; i < kElements; ++i) mine[i] = rank * call + i;
    MPI_Allreduce(mine, all, kElements, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < kElements; ++i)
      CHECK(all[i] == call * size * (size - 1) / 2 + size * i, "sum %d of %d", i, all[i]);
    int value = rank == call % size ? call + 7 : 0;
    MPI_Bcast(&value, 1, MPI_INT, call % size, comm);
    CHECK(value == call + 7, "broadcast %d", value);
    MPI_Allgather(mine, kElements, MPI_INT, everything, kElements, MPI_INT, comm);
    for (int i = 0; i < size * kElements; ++i)
      CHECK(everything[i] == i / kElements * call + i % kElements, "element %d is %d", i, everything[i]);
    MPI_Request request;
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; ++i) CHECK(all[i] == i, "block %d is %d", i, all[i]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL, others = MPI_COMM_NULL, both, copy, part;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_get_parent(&parent);
  const int is_child = parent != MPI_COMM_NULL;
  // Each job meets first by itself.
  call_collectives(MPI_COMM_WORLD, 5);
  if (is_child) {
    others = parent;
  } else {
    int codes[kChildren];
    const int code =
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, codes);
    CHECK(code == MPI_SUCCESS, "spawn: %d", code);
  }
  MPI_Intercomm_merge(others, is_child, &both);
  call_collectives(both, kCalls);
  MPI_Comm_dup(both, &copy);
  call_collectives(copy, kCalls);
  // One rank of each job: as many as are in each.
  int rank = 0;
  MPI_Comm_rank(both, &rank);
  MPI_Comm_split(both, rank % 2, -rank, &part);
  call_collectives(part, kCalls);
  call_collectives(MPI_COMM_WORLD, 5);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, both);
  MPI_Comm_free(&part);
  MPI_Comm_disconnect(&copy);
  MPI_Comm_disconnect(&both);
  MPI_Comm_disconnect(&others);
  if (rank == 0) printf("spawned: %s\n", all == 0 ? "passed" : "FAILED");
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
