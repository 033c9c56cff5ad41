// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_free is local: ranks free communicators in any order, at any time or never, as bindings with a garbage
// collector do, and nobody waits.
#include <unistd.h>

#include "check.h"

enum { kComms = 6, kRounds = 20, kManyRounds = 100 };

static void use(MPI_Comm comm) {
  int sum = -1;
  CHECK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "allreduce");
  CHECK(sum == world_size * (world_size - 1) / 2, "sum %d", sum);
}

static void make(MPI_Comm* comms, int number) {
  for (int i = 0; i < number; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    use(comms[i]);
  }
}

static void in_another_order_on_odd_ranks(void) {
  MPI_Comm comms[kComms];
  make(comms, kComms);
  for (int i = 0; i < kComms; ++i) MPI_Comm_free(&comms[world_rank % 2 == 0 ? i : kComms - 1 - i]);
}

static void by_rank_0_first(void) {
  MPI_Comm comm;
  make(&comm, 1);
  if (world_rank == 0) MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank != 0) MPI_Comm_free(&comm);
}

static void after_a_message_from_rank_0(void) {
  MPI_Comm comm;
  int word = 1;
  make(&comm, 1);
  if (world_rank == 0) {
    MPI_Comm_free(&comm);
    for (int rank = 1; rank < world_size; ++rank) MPI_Send(&word, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }
}

// For good: MPI_Finalize closes it.
static void by_one_rank_only(int rank) {
  MPI_Comm comm;
  make(&comm, 1);
  if (world_rank == rank) MPI_Comm_free(&comm);
}

static void by_the_root_of_a_broadcast_that_others_are_late_for(int count) {
  MPI_Comm comm;
  static int data[100000];
  make(&comm, 1);
  for (int i = 0; i < count; ++i) data[i] = world_rank == 0 ? i : -1;
  if (world_rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(data, count, MPI_INT, 0, comm);
  MPI_Comm_free(&comm);
  if (world_rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK(data[i] == i, "element %d of %d is %d", i, count, data[i]);
}

// Memory of those that are gone is used again, in whatever order.
static void again_and_again(void) {
  enum { kKept = 4 };
  MPI_Comm kept[kKept];
  make(kept, kKept);
  for (int round = 0; round < kManyRounds; ++round) {
    const int chosen = (int)(random_number() % kKept);
    MPI_Comm parts;
    MPI_Comm_free(&kept[chosen]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &parts);
    MPI_Barrier(parts);
    make(&kept[chosen], 1);
    if (world_rank % 2 == 0 || round % 3 == 0) MPI_Comm_free(&parts);
  }
  for (int i = 0; i < kKept; ++i) MPI_Comm_free(&kept[(world_rank + i) % kKept]);
}

static void by_disconnecting(void) {
  MPI_Comm comm;
  make(&comm, 1);
  MPI_Comm_disconnect(&comm);
  CHECK(comm == MPI_COMM_NULL, "the handle is left");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  alarm(120);  // a hang is the failure that is looked for
  for (int round = 0; round < kRounds; ++round) {
    in_another_order_on_odd_ranks();
    by_rank_0_first();
    after_a_message_from_rank_0();
    by_one_rank_only(round % world_size);
    by_the_root_of_a_broadcast_that_others_are_late_for(round % 2 == 0 ? 10 : 1000);
    by_disconnecting();
  }
  again_and_again();
  return finish("freeing");
}
