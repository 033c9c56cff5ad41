// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are in different calls, without being asked to compare them: all of them get an error, in that call or in
// the next that waits, and stderr says in MPI's words which calls those are (the script that runs this looks). With
// LATE set a rank that is merely late follows, for which others wait so long that they tell it so.
#include <unistd.h>

#include "check.h"

static long input[8], output[64];

static int broadcast(MPI_Comm comm, int root, int count) { return MPI_Bcast(output, count, MPI_LONG, root, comm); }
static int sum(MPI_Comm comm, MPI_Op op) { return MPI_Allreduce(input, output, 2, MPI_LONG, op, comm); }

enum { kRoots, kCollectives, kOperations, kLengths, kOwnOperation, kCases };

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((long*)inout)[i] += ((long*)in)[i];
}

static int call(int which, int is_odd, MPI_Op own, MPI_Comm comm) {
  switch (which) {
    case kRoots:
      return broadcast(comm, is_odd, 1);
    case kCollectives:
      return is_odd ? MPI_Barrier(comm) : sum(comm, MPI_SUM);
    case kOperations:
      return sum(comm, is_odd ? MPI_MAX : MPI_SUM);
    case kLengths:
      return is_odd ? MPI_Gather(input, 4, MPI_LONG, output, 4, MPI_LONG, 0, comm)
                    : MPI_Gather(input, 3, MPI_LONG, output, 3, MPI_LONG, 0, comm);
    default:
      return sum(comm, is_odd ? own : MPI_SUM);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  for (int which = 0; which < kCases; ++which) {
    // MPICH 4 and Intel MPI end the job themselves where a message between nodes is longer than its receive.
    if (which == kLengths && getenv("SAME_LENGTHS") != NULL) continue;
    MPI_Comm comm;
    int class = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    set_up(comm);
    int code = call(which, world_rank == world_size - 1, own, comm);
    if (code == MPI_SUCCESS) code = sum(comm, MPI_SUM);
    CHECK(code != MPI_SUCCESS, "nobody noticed case %d", which);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_OTHER, "case %d: class %d", which, class);
    CHECK(MPI_Barrier(comm) != MPI_SUCCESS, "case %d: the communicator is still good", which);
    MPI_Comm_free(&comm);
  }
  MPI_Op_free(&own);
  // Another communicator is as good as ever.
  MPI_Barrier(MPI_COMM_WORLD);
  if (getenv("LATE") != NULL && world_rank == 0) sleep(3);
  input[0] = world_rank;
  CHECK(sum(MPI_COMM_WORLD, MPI_SUM) == MPI_SUCCESS, "sum");
  CHECK(output[0] == (long)world_size * (world_size - 1) / 2, "sum %ld", output[0]);
  return finish("mismatch");
}
