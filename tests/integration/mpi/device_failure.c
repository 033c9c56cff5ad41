// SPDX-License-Identifier: BSD-3-Clause
// A driver that refuses to copy, on one rank: it hears of it by the MPI's error, and nobody waits for it.
#include "device_memory.h"

enum { kCount = 1000 };

// `call` with rank 1's driver refusing. Where peers need its data they hear of it, in this call or in the next.
static void check_refusal(int (*call)(int* memory, MPI_Comm comm), int is_needed, const char* name) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int* const memory = allocate(kCount * sizeof(int), kDeviceMemory);
  set_up(comm);
  CHECK(call(memory, comm) == MPI_SUCCESS, "%s while all is well", name);
  MPI_Barrier(comm);
  refuse_in_stand_in(world_rank == 1);
  const int error = call(memory, comm);
  refuse_in_stand_in(0);
  if (world_rank == 1) CHECK(error != MPI_SUCCESS, "%s on the rank itself", name);
  if (is_needed) CHECK(MPI_Barrier(comm) != MPI_SUCCESS, "the call after %s", name);
  release(memory, kDeviceMemory);
  MPI_Comm_free(&comm);
}

static int broadcast(int* memory, MPI_Comm comm) { return MPI_Bcast(memory, kCount, MPI_INT, 1, comm); }
static int broadcast_to(int* memory, MPI_Comm comm) { return MPI_Bcast(memory, kCount, MPI_INT, 0, comm); }
static int sum(int* memory, MPI_Comm comm) {
  return MPI_Allreduce(MPI_IN_PLACE, memory, kCount, MPI_INT, MPI_SUM, comm);
}
static int gather(int* memory, MPI_Comm comm) {
  static int all[8 * kCount];
  return MPI_Gather(memory, kCount, MPI_INT, all, kCount, MPI_INT, 0, comm);
}

int main(int argc, char** argv) {
  if (!load_driver()) return 3;
  start(&argc, &argv);
  check_refusal(broadcast, 1, "MPI_Bcast from it");
  check_refusal(broadcast_to, 0, "MPI_Bcast to it");
  check_refusal(sum, 1, "MPI_Allreduce");
  check_refusal(gather, 1, "MPI_Gather");
  return finish("device_failure");
}
