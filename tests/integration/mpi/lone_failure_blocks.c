// SPDX-License-Identifier: BSD-3-Clause
// Run with a fault on one rank (faults.c), in packing or unpacking: gathers, scatters, exchanges and scans return the
// error on that rank, nobody waits for it, what others send arrives all the same, and later calls are right.
#include "check.h"

enum { kCount = 50, kMaxRanks = 16, kInts = 2 * kCount };

static int faulty_rank = 0, in_packing = 0;

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

static int out[kMaxRanks * kInts], in[kMaxRanks * kInts];

static void fill(void) {
  for (int i = 0; i < world_size * kInts; ++i) out[i] = world_rank * 1000 + 1, in[i] = -1;
}

// `fails_here`: the one that packs, or unpacks, is this rank.
static void expect(int code, int fails_here, const char* what) {
  const int right = world_rank == faulty_rank && fails_here;
  CHECK((code != MPI_SUCCESS) == right, "%s returned %d", what, code);
}

// The block of each rank, where this one has unpacked anything: from the rank that couldn't pack, zeroes.
static void look(const char* what, int gets) {
  if (!gets || world_rank == faulty_rank) return;
  for (int rank = 0; rank < world_size; ++rank) {
    const int right = in_packing && rank == faulty_rank ? 0 : rank * 1000 + 1;
    for (int i = 0; i < kCount; ++i) {
      const int* place = &in[rank * kInts + 2 * i];
      CHECK(place[0] == right && place[1] == -1, "%s: from rank %d %d and %d", what, rank, place[0], place[1]);
    }
  }
}

static void blocks(MPI_Comm comm, MPI_Datatype type) {
  int counts[kMaxRanks], places[kMaxRanks], bytes[kMaxRanks];
  MPI_Datatype types[kMaxRanks];
  for (int i = 0; i < world_size; ++i) {
    counts[i] = kCount, places[i] = i * kCount, bytes[i] = places[i] * 2 * (int)sizeof(int), types[i] = type;
  }
  for (int root = 0; root < world_size; ++root) {
    const int is_root = root == world_rank;
    fill();
    expect(MPI_Gather(out, kCount, type, in, kCount, type, root, comm), in_packing || is_root, "gather");
    look("gather", is_root);
    fill();
    expect(MPI_Gatherv(out, kCount, type, in, counts, places, type, root, comm), in_packing || is_root, "gatherv");
    look("gatherv", is_root);
    fill();
    expect(MPI_Scatter(out, kCount, type, in, kCount, type, root, comm), is_root || !in_packing, "scatter");
    expect(MPI_Scatterv(out, counts, places, type, in, kCount, type, root, comm), is_root || !in_packing, "scatterv");
    sums_are_right(comm);
  }
  fill();
  expect(MPI_Allgather(out, kCount, type, in, kCount, type, comm), 1, "allgather");
  look("allgather", 1);
  fill();
  expect(MPI_Alltoall(out, kCount, type, in, kCount, type, comm), 1, "alltoall");
  look("alltoall", 1);
  fill();
  expect(MPI_Alltoallv(out, counts, places, type, in, counts, places, type, comm), 1, "alltoallv");
  look("alltoallv", 1);
  fill();
  expect(MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, comm), 1, "alltoallw");
  look("alltoallw", 1);
  sums_are_right(comm);
}

static void add(void* a, void* b, int* count, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i) *(int*)((char*)b + i * extent) += *(int*)((char*)a + i * extent);
}

static void parts_and_scans(MPI_Comm comm, MPI_Datatype type) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int in_place = 0; in_place < 2; ++in_place) {
    const void* from = in_place ? MPI_IN_PLACE : out;
    fill();
    expect(MPI_Reduce_scatter_block(from, in, kCount, type, op, comm), 1, "reduce_scatter_block");
    sums_are_right(comm);
    fill();
    expect(MPI_Scan(from, in, kCount, type, op, comm), 1, "scan");
    sums_are_right(comm);
  }
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char *fault = getenv("FAULT"), *rank = getenv("FAULT_RANK");
  faulty_rank = rank != NULL ? atoi(rank) : 0;
  in_packing = fault != NULL && strcmp(fault, "pack") == 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype type = sparse_type();
  blocks(comm, type);
  parts_and_scans(comm, type);
  MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  return finish("lone_failure_blocks");
}
