// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives on memory of a device, whose copies are made when a call begins and when it is over.
#include "device_memory.h"

enum { kCount = 20, kMost = 40 };

static void fill(int* memory, int factor) {
  int host[kMost];
  for (int i = 0; i < kMost; ++i) host[i] = factor * (i + 1);
  copy(memory, host, sizeof host);
}

// `step`: of places that have data; those in between are as they were.
static void check(const char* what, const int* memory, int step, int factor, int before) {
  int host[kMost];
  copy(host, memory, sizeof host);
  for (int i = 0; i < kMost; ++i) {
    const int has_data = i % step == 0 && i / step < kCount;
    const int right = (has_data ? factor : before) * (i + 1);
    CHECK(host[i] == right, "%s: place %d holds %d, not %d", what, i, host[i], right);
  }
}

static void check_broadcasts(int* memory, int root) {
  MPI_Request request;
  MPI_Datatype vector;
  fill(memory, world_rank == root ? 5 : 1);
  MPI_Ibcast(memory, kCount, MPI_INT, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("dense", memory, 1, 5, world_rank == root ? 5 : 1);
  fill(memory, world_rank == root ? 6 : 2);
  MPI_Type_vector(kCount, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Ibcast(memory, 1, vector, root, MPI_COMM_WORLD, &request);
  MPI_Type_free(&vector);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("with gaps", memory, 2, 6, world_rank == root ? 6 : 2);
}

static void check_sums(int* input, int* output, int root) {
  MPI_Request request;
  const int sum = world_size * (world_size + 1) / 2;
  fill(input, world_rank + 1);
  fill(output, 9);
  MPI_Iallreduce(input, output, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("sum", output, 1, sum, 9);
  check("its input", input, 1, world_rank + 1, world_rank + 1);
  fill(output, world_rank + 1);
  MPI_Iallreduce(MPI_IN_PLACE, output, kCount, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check("sum in place", output, 1, sum, world_rank + 1);
  fill(output, world_rank == root ? world_rank + 1 : 7);
  const int in_place = world_rank == root && root % 2 == 0;
  MPI_Ireduce(in_place ? MPI_IN_PLACE : input, output, kCount, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (world_rank == root) check("sum at the root", output, 1, sum, world_rank + 1);
}

int main(int argc, char** argv) {
  if (!load_driver()) return 3;
  start(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 3 * world_size; ++round) {
    // In turn on all ranks, on the even ones, and of another kind.
    const enum memory_kind kinds[] = {kDeviceMemory, world_rank % 2 == 0 ? kPoolMemory : kHostMemory, kManagedMemory};
    const enum memory_kind kind = kinds[round / world_size];
    int* const input = allocate(kMost * sizeof(int), kind);
    int* const output = allocate(kMost * sizeof(int), kind);
    check_broadcasts(output, round % world_size);
    check_sums(input, output, round % world_size);
    release(input, kind);
    release(output, kind);
  }
  return finish("device_nonblocking");
}
