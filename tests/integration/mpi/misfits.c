// SPDX-License-Identifier: BSD-3-Clause
// On rank 0 what it sends to itself has another length than what it receives from itself. An MPI makes at most an error
// of it there, and serves the others: so it is under hocket, which raises MPI_ERR_TRUNCATE on rank 0 if more is sent
// than received, and the communicator is as good as before.
#include <unistd.h>

#include "check.h"

enum { kCount = 5, kMost = 8, kPlace = 2 * kCount };

// Ints a block on rank 0; on others kCount.
static int sends = kCount, receives = kCount;
static int sent[kMost * kPlace], received[kMost * kPlace];
static MPI_Datatype sparse;  // an int and a gap

static int gather(MPI_Comm comm) { return MPI_Gather(sent, sends, MPI_INT, received, kCount, MPI_INT, 0, comm); }
static int gather_sparse(MPI_Comm comm) { return MPI_Gather(sent, sends, sparse, received, kCount, MPI_INT, 0, comm); }
static int scatter(MPI_Comm comm) { return MPI_Scatter(sent, kCount, MPI_INT, received, receives, MPI_INT, 0, comm); }
static int alltoall(MPI_Comm comm) { return MPI_Alltoall(sent, kCount, MPI_INT, received, receives, MPI_INT, comm); }
static int allgather(MPI_Comm comm) { return MPI_Allgather(sent, kCount, MPI_INT, received, receives, MPI_INT, comm); }
static int alltoallv(MPI_Comm comm) {
  int send_counts[kMost], receive_counts[kMost], places[kMost];
  for (int i = 0; i < world_size; ++i) send_counts[i] = receive_counts[i] = kCount, places[i] = kPlace * i;
  if (world_rank == 0) send_counts[0] = sends, receive_counts[0] = receives;
  return MPI_Alltoallv(sent, send_counts, places, MPI_INT, received, receive_counts, places, MPI_INT, comm);
}

// `stride`: of blocks where they are received, 0: as far apart as they are long; `sent_stride`: of a block for each
// rank where they are sent.
typedef struct Case {
  const char* name;
  int (*call)(MPI_Comm comm);
  int varies_sent;  // what rank 0 has wrong: else what it receives
  int is_from_all, is_to_all;
  int stride, sent_stride;
} Case;

static void check_blocks(const Case* one, int is_longer) {
  const int receivers = one->is_to_all ? world_size : 1, senders = one->is_from_all ? world_size : 1;
  if (world_rank >= receivers) return;
  for (int from = 0; from < senders; ++from) {
    // Rank 0's own is cut off; where all of its blocks are, so are these.
    const int is_cut = world_rank == 0 && (from == 0 || one->stride == 0);
    const int count = is_cut ? kCount - 2 : kCount;
    const int* block = received + from * (one->stride != 0 ? one->stride : world_rank == 0 ? receives : kCount);
    for (int i = 0; i < count; ++i) {
      const int expected = 1000 * from + world_rank * one->sent_stride + i;
      CHECK(block[i] == expected, "%s, %s: int %d from rank %d is %d, not %d", one->name,
            is_longer ? "longer" : "shorter", i, from, block[i], expected);
    }
  }
}

static void try_one(const Case* one, int is_longer, MPI_Comm comm) {
  sends = receives = kCount;
  if (world_rank == 0 && one->varies_sent) sends = is_longer ? kCount + 2 : kCount - 2;
  if (world_rank == 0 && !one->varies_sent) receives = is_longer ? kCount - 2 : kCount + 2;
  for (int i = 0; i < kMost * kPlace; ++i) sent[i] = 1000 * world_rank + i, received[i] = -1;
  const int code = one->call(comm);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  const int expected = world_rank == 0 && is_longer ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  CHECK(error_class == expected, "%s, %s: class %d", one->name, is_longer ? "longer" : "shorter", error_class);
  if (one->call != gather_sparse) check_blocks(one, is_longer);
  int sum = 0;
  CHECK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "after %s", one->name);
  CHECK(sum == world_size * (world_size - 1) / 2, "after %s: %d", one->name, sum);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  alarm(60);  // a hang is the failure that is looked for
  MPI_Comm comm;
  MPI_Datatype vector;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Type_vector(1, 1, 1, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &sparse);
  MPI_Type_commit(&sparse);
  set_up(comm);
  const Case cases[] = {
      {"gather", gather, 1, 1, 0, kCount, 0},           {"gather with gaps", gather_sparse, 1, 1, 0, kCount, 0},
      {"scatter", scatter, 0, 0, 1, kCount, kCount},    {"alltoall", alltoall, 0, 1, 1, 0, kCount},
      {"allgather", allgather, 0, 1, 1, 0, 0},          {"alltoallv", alltoallv, 0, 1, 1, kPlace, kPlace},
      {"alltoallv", alltoallv, 1, 1, 1, kPlace, kPlace}};
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
      try_one(&cases[i], 1, comm);
      try_one(&cases[i], 0, comm);
    }
  }
  MPI_Type_free(&sparse);
  MPI_Type_free(&vector);
  MPI_Comm_free(&comm);
  return finish("misfits");
}
