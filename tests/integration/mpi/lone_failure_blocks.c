// SPDX-License-Identifier: BSD-3-Clause
// Run with a fault on one rank (failing_calls.c), in packing or unpacking: gathers, scatters, exchanges and scans
// return the error on that rank and nobody waits for it. What it couldn't unpack is its own affair. What it couldn't
// pack is an error on those that need it, and on that communicator from then on.
//
// COUNT: the ints of a block, few by default; many are packed and unpacked part by part. Where packing fails at times
// only, in the middle of a message or not at all, nobody is kept waiting, and what succeeds is right.
#include "check.h"

enum { kMostCount = 24 * 1024, kMaxRanks = 16 };

static int faulty_rank = 0, in_packing = 0, at_times = 0, ints = 50;

static void sums_are_right(MPI_Comm comm) {
  int sum = -1;
  CHECK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "allreduce");
  CHECK(sum == world_size * (world_size - 1) / 2, "sum %d", sum);
}

// An int and a gap of the same size.
static MPI_Datatype sparse_type(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  return type;
}

static int out[kMaxRanks * 2 * kMostCount], in[kMaxRanks * 2 * kMostCount];

static void fill(void) {
  for (int i = 0; i < world_size * 2 * ints; ++i) out[i] = world_rank * 1000 + 1, in[i] = -1;
}

static MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  set_up(copy);
  return copy;
}

static void check_blocks(const char* what, int are_there) {
  for (int rank = 0; rank < world_size && are_there; ++rank) {
    for (int i = 0; i < ints; ++i) {
      const int* place = &in[(rank * ints + i) * 2];
      CHECK(place[0] == rank * 1000 + 1 && place[1] == -1, "%s: from rank %d %d %d", what, rank, place[0], place[1]);
    }
  }
}

// A call has ended: with packing on the faulty rank (`packs`), or with unpacking; `gets`: this rank needs all blocks.
static void look(MPI_Comm* used, const char* what, int code, int packs, int gets) {
  const int is_faulty = world_rank == faulty_rank, is_broken = in_packing && packs;
  if (at_times) {
    MPI_Barrier(*used);
    check_blocks(what, gets && code == MPI_SUCCESS);
    MPI_Comm_free(used);
    return;
  }
  if (is_faulty && is_broken) CHECK(code != MPI_SUCCESS, "%s knows nothing of its failure", what);
  if (!is_faulty && is_broken && gets) CHECK(code != MPI_SUCCESS, "%s without the block of %d", what, faulty_rank);
  if (!in_packing) CHECK((code != MPI_SUCCESS) == (is_faulty && gets), "%s returned %d", what, code);
  if (in_packing && !packs) CHECK(code == MPI_SUCCESS, "%s returned %d", what, code);
  check_blocks(what, gets && code == MPI_SUCCESS);
  if (is_broken) {
    CHECK(MPI_Barrier(*used) != MPI_SUCCESS, "%s: the communicator is still good", what);
  } else {
    sums_are_right(*used);
  }
  MPI_Comm_free(used);
}

// Runs one call on a communicator of its own, `used`.
#define TRY(what, packs, gets, call)      \
  do {                                    \
    MPI_Comm used = duplicate(comm);      \
    fill();                               \
    const int code = call;                \
    look(&used, what, code, packs, gets); \
    sums_are_right(comm);                 \
  } while (0)

static void scatters(MPI_Comm comm, MPI_Datatype type, int root, const int* counts, const int* places) {
  for (int vector = 0; vector < 2; ++vector) {
    MPI_Comm used = duplicate(comm);
    fill();
    const int code = vector ? MPI_Scatterv(out, counts, places, type, in, ints, type, root, used)
                            : MPI_Scatter(out, ints, type, in, ints, type, root, used);
    const int is_broken = in_packing && root == faulty_rank;
    if (!at_times)
      CHECK((code != MPI_SUCCESS) == (is_broken || (!in_packing && world_rank == faulty_rank)), "returned %d", code);
    for (int i = 0; i < ints && code == MPI_SUCCESS; ++i) {
      CHECK(in[2 * i] == root * 1000 + 1 && in[2 * i + 1] == -1, "place %d: %d %d", i, in[2 * i], in[2 * i + 1]);
    }
    if (at_times) {
      MPI_Comm_free(&used);
      continue;
    }
    if (is_broken) {
      CHECK(MPI_Barrier(used) != MPI_SUCCESS, "the communicator is still good");
    } else {
      sums_are_right(used);
    }
    MPI_Comm_free(&used);
  }
}

static void blocks(MPI_Comm comm, MPI_Datatype type) {
  int counts[kMaxRanks], places[kMaxRanks], bytes[kMaxRanks];
  MPI_Datatype types[kMaxRanks];
  for (int i = 0; i < world_size; ++i) {
    counts[i] = ints, places[i] = i * ints, bytes[i] = places[i] * 2 * (int)sizeof(int), types[i] = type;
  }
  for (int root = 0; root < world_size; ++root) {
    const int is_root = root == world_rank;
    TRY("gather", 1, is_root, MPI_Gather(out, ints, type, in, ints, type, root, used));
    TRY("gatherv", 1, is_root, MPI_Gatherv(out, ints, type, in, counts, places, type, root, used));
    scatters(comm, type, root, counts, places);
  }
  TRY("allgather", 1, 1, MPI_Allgather(out, ints, type, in, ints, type, used));
  TRY("allgatherv", 1, 1, MPI_Allgatherv(out, ints, type, in, counts, places, type, used));
  TRY("alltoall", 1, 1, MPI_Alltoall(out, ints, type, in, ints, type, used));
  TRY("alltoallv", 1, 1, MPI_Alltoallv(out, counts, places, type, in, counts, places, type, used));
  TRY("alltoallw", 1, 1, MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, used));
}

static void add(void* a, void* b, int* count, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i) *(int*)((char*)b + i * extent) += *(int*)((char*)a + i * extent);
}

// In unpacking the operation may fail too, which is everybody's affair.
static void parts_and_scans(MPI_Comm comm, MPI_Datatype type) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int round = 0; round < 4; ++round) {
    const void* from = round % 2 == 0 ? MPI_IN_PLACE : out;
    MPI_Comm used = duplicate(comm);
    fill();
    const int code =
        round < 2 ? MPI_Reduce_scatter_block(from, in, ints, type, op, used) : MPI_Scan(from, in, ints, type, op, used);
    CHECK(code != MPI_SUCCESS || world_rank != faulty_rank, "round %d knows nothing of its failure", round);
    if (in_packing && (round < 2 || world_rank > faulty_rank)) CHECK(code != MPI_SUCCESS, "round %d", round);
    if (in_packing) CHECK(MPI_Barrier(used) != MPI_SUCCESS, "the communicator is still good");
    MPI_Comm_free(&used);
    sums_are_right(comm);
  }
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char *fault = getenv("FAULT"), *rank = getenv("FAULT_RANK");
  faulty_rank = rank != NULL ? atoi(rank) : 0;
  if (getenv("COUNT") != NULL) ints = atoi(getenv("COUNT"));
  in_packing = fault != NULL && strcmp(fault, "pack") == 0;
  at_times = fault != NULL && strcmp(fault, "pack_at_times") == 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype type = sparse_type();
  blocks(comm, type);
  if (!at_times) parts_and_scans(comm, type);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  return finish("lone_failure_blocks");
}
