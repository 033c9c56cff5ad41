// SPDX-License-Identifier: BSD-3-Clause
// Gathers, scatters, exchanges and scans with arguments that are wrong: the MPI's own error on every rank, before the
// communicator has been set up and afterwards, and right results in between. What is none of a rank's business may be
// anything.
#include "check.h"

enum { kMaxRanks = 16 };

static int ones[kMaxRanks], places[kMaxRanks];
static MPI_Datatype ints[kMaxRanks], nulls[kMaxRanks];

static void expect(int code, int class, const char* what) {
  int found = 0;
  MPI_Error_class(code, &found);
  CHECK(found == class, "%s: class %d", what, found);
}

static void errors_are_those_of_the_mpi(MPI_Comm comm) {
  int in[kMaxRanks] = {0}, out[kMaxRanks];
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  expect(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, world_size, comm), MPI_ERR_ROOT, "root of gather");
  expect(MPI_Gatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, -5, comm), MPI_ERR_ROOT, "root of gatherv");
  expect(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, world_size, comm), MPI_ERR_ROOT, "root of scatter");
  expect(MPI_Scatterv(in, ones, places, MPI_INT, out, 1, MPI_INT, -5, comm), MPI_ERR_ROOT, "root of scatterv");
  expect(MPI_Allgather(in, 1, none, out, 1, none, comm), MPI_ERR_TYPE, "type of allgather");
  expect(MPI_Alltoall(in, 1, MPI_INT, out, 1, none, comm), MPI_ERR_TYPE, "type of alltoall");
  expect(MPI_Alltoallw(in, ones, places, nulls, out, ones, places, nulls, comm), MPI_ERR_TYPE, "types of alltoallw");
  expect(MPI_Scan(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "operation of scan");
  expect(MPI_Exscan(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "operation of exscan");
  expect(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "operation of scatter");
  double a[kMaxRanks] = {0}, b[kMaxRanks];
  expect(MPI_Reduce_scatter(a, b, ones, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP, "bits of doubles");
#ifndef OPEN_MPI
  expect(MPI_Allgather(out + world_rank, 1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_BUFFER, "aliases of allgather");
  expect(MPI_Alltoall(out, 1, MPI_INT, out, 1, MPI_INT, comm), MPI_ERR_BUFFER, "aliases of alltoall");
  expect(MPI_Scan(out, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER, "aliases of scan");
#endif
}

// Open MPI takes one buffer for both as MPI_IN_PLACE.
static void one_buffer_for_both(MPI_Comm comm) {
#ifdef OPEN_MPI
  int all[kMaxRanks], sum = world_rank + 1;
  for (int i = 0; i < world_size; ++i) all[i] = i == world_rank ? i * i : -1;
  expect(MPI_Allgather(&all[world_rank], 1, MPI_INT, all, 1, MPI_INT, comm), MPI_SUCCESS, "allgather");
  for (int i = 0; i < world_size; ++i) CHECK(all[i] == i * i, "place %d holds %d", i, all[i]);
  expect(MPI_Scan(&sum, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "scan");
  CHECK(sum == (world_rank + 1) * (world_rank + 2) / 2, "sum %d", sum);
#else
  (void)comm;
#endif
}

// An exchange with neighbours, nothing to itself, out of one buffer into the same: no MPI finds that out, and as long
// as each block is as long as the one that replaces it, hocket takes it as in place.
static void one_buffer_described_twice(MPI_Comm comm) {
  enum { kBlock = 30000 };  // so long that peers read it where it lies
  static int all[kMaxRanks * kBlock];
  int sent[kMaxRanks], taken[kMaxRanks], at[kMaxRanks];
  for (int i = 0; i < world_size; ++i) {
    for (int k = 0; k < kBlock; ++k) all[i * kBlock + k] = world_rank * 100 + i + k;
    sent[i] = taken[i] = i != world_rank ? kBlock : 0;
    at[i] = i * kBlock;
  }
  const int error = MPI_Alltoallv(all, sent, at, MPI_INT, all, taken, at, MPI_INT, comm);
#ifdef OPEN_MPI
  expect(error, MPI_SUCCESS, "one buffer");
#else
  if (error != MPI_SUCCESS) return;  // then the MPI refuses it on all ranks
#endif
  for (int i = 0; i < world_size; ++i) {
    for (int k = 0; k < kBlock; k += 997) {
      const int expected = (i != world_rank ? i * 100 + world_rank : world_rank * 101) + k;
      CHECK(all[i * kBlock + k] == expected, "place %d of block %d holds %d", k, i, all[i * kBlock + k]);
    }
  }
}

// A rank other than the root passes what it likes for the root's side; nobody looks at the types of empty blocks, or
// at the buffers and types of a side that is in place.
static void what_has_no_meaning_may_be_anything(MPI_Comm comm) {
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  int *const nowhere = (int*)(intptr_t)64, mine = world_rank * 3, got = -1, all[kMaxRanks];
  const int root = world_size - 1, is_root = world_rank == root;
  expect(MPI_Gather(&mine, 1, MPI_INT, is_root ? all : nowhere, is_root ? 1 : -1, is_root ? MPI_INT : none, root, comm),
         MPI_SUCCESS, "gather");
  for (int i = 0; i < world_size && is_root; ++i) CHECK(all[i] == i * 3, "place %d holds %d", i, all[i]);
  expect(MPI_Scatterv(is_root ? all : nowhere, is_root ? ones : nowhere, is_root ? places : nowhere,
                      is_root ? MPI_INT : none, &got, 1, MPI_INT, root, comm),
         MPI_SUCCESS, "scatterv");
  CHECK(got == world_rank * 3, "got %d", got);
  for (int i = 0; i < world_size; ++i) all[i] = i == world_rank ? i + 7 : -1;
  expect(MPI_Allgatherv(MPI_IN_PLACE, -1, none, all, ones, places, MPI_INT, comm), MPI_SUCCESS, "allgatherv");
  for (int i = 0; i < world_size; ++i) CHECK(all[i] == i + 7, "place %d holds %d", i, all[i]);
  for (int i = 0; i < world_size; ++i) all[i] = world_rank * 100 + i;
  expect(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, ones, (int[]){0, 4, 8, 12, 16, 20, 24, 28}, ints, comm),
         MPI_SUCCESS, "alltoallw");
  for (int i = 0; i < world_size; ++i) CHECK(all[i] == i * 100 + world_rank, "place %d holds %d", i, all[i]);
  const int zeroes[kMaxRanks] = {0};
  expect(MPI_Alltoallw(NULL, zeroes, places, nulls, NULL, zeroes, places, nulls, comm), MPI_SUCCESS, "empty blocks");
  expect(MPI_Alltoallv(NULL, zeroes, places, MPI_INT, NULL, zeroes, places, MPI_INT, comm), MPI_SUCCESS, "no blocks");
  expect(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm), MPI_SUCCESS, "nothing");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < kMaxRanks; ++i) ones[i] = 1, places[i] = i, ints[i] = MPI_INT, nulls[i] = MPI_DATATYPE_NULL;
  for (int round = 0; round < 20; ++round) {
    if (round < 3) errors_are_those_of_the_mpi(comm);
    what_has_no_meaning_may_be_anything(comm);
    one_buffer_for_both(comm);
    one_buffer_described_twice(comm);
  }
  MPI_Comm_free(&comm);
  return finish("wrong_arguments");
}
