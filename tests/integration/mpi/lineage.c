// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made of each other by most functions that make them, before the job has met and after, in an
// order that is drawn: each of them sums up what its members give, and is used, kept and freed in turns.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"

enum { kMost = 12, kMade = 400 };

static MPI_Comm comms[kMost] = {MPI_COMM_NULL};  // MPI_COMM_NULL: this rank isn't in it
static int count = 1;                            // the first is MPI_COMM_WORLD

static int draw(int below) { return (int)(random_number() >> 33) % below; }

// By hocket from its first use on, and by the MPI underneath.
static void use(MPI_Comm comm) {
  const int64_t mine = 1000003 * (int64_t)(world_rank + 1);
  int64_t sum = 0, expected = 0;
  if (comm == MPI_COMM_NULL) return;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
  native_allreduce(&mine, &expected, 1, MPI_INT64_T, MPI_SUM, comm);
  CHECK(sum == expected, "%lld, not %lld", (long long)sum, (long long)expected);
}

static MPI_Comm cart_of(MPI_Comm comm, int is_reordered) {
  MPI_Comm made;
  int size = 0, lengths[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, lengths);
  MPI_Cart_create(comm, 2, lengths, periods, is_reordered, &made);
  return made;
}

static MPI_Comm row_of(MPI_Comm comm, int which) {
  MPI_Comm row, cart = cart_of(comm, 0);
  const int remains[2] = {which, !which};
  MPI_Cart_sub(cart, remains, &row);
  if (which) use(cart);
  MPI_Comm_free(&cart);
  return row;
}

static MPI_Comm graph_of(MPI_Comm comm) {
  MPI_Comm made;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int next[1] = {(rank + 1) % size}, last[1] = {(rank + size - 1) % size}, weight[1] = {1};
  MPI_Dist_graph_create_adjacent(comm, 1, last, weight, 1, next, weight, MPI_INFO_NULL, 0, &made);
  return made;
}

// Of all but the first rank, who gets none.
static MPI_Comm others_of(MPI_Comm comm, int is_by_group) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all, part;
  int rank = 0, size = 0;
  const int first = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_group(comm, &all);
  MPI_Group_excl(all, size > 1, &first, &part);
  if (!is_by_group) MPI_Comm_create(comm, part, &made);
  if (is_by_group && (rank != 0 || size == 1)) MPI_Comm_create_group(comm, part, 5, &made);
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  return made;
}

static MPI_Comm merged_of(MPI_Comm comm) {
  MPI_Comm half, bridge, made;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size < 2) return MPI_COMM_NULL;
  MPI_Comm_split(comm, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, comm, 1 - rank % 2, 6, &bridge);
  MPI_Intercomm_merge(bridge, rank % 2, &made);
  MPI_Comm_free(&bridge);
  use(half);
  MPI_Comm_free(&half);
  return made;
}

static MPI_Comm copy_of(MPI_Comm comm) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

static MPI_Comm part_of(MPI_Comm comm, int colors, int is_backwards) {
  MPI_Comm made;
  const int color = world_rank % colors;
  MPI_Comm_split(comm, color == 2 ? MPI_UNDEFINED : color, is_backwards ? -world_rank : 0, &made);
  return made;
}

static MPI_Comm make(MPI_Comm comm, int how, int which) {
  MPI_Comm made = MPI_COMM_NULL;
  if (comm == MPI_COMM_NULL) return made;
  if (how == 0) MPI_Comm_dup(comm, &made);
  if (how == 1) MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
  if (how == 2) made = part_of(comm, 1 + which % 3, which / 3);
  if (how == 3) MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, -world_rank, MPI_INFO_NULL, &made);
  if (how == 4) made = cart_of(comm, which % 2);
  if (how == 5) made = row_of(comm, which % 2);
  if (how == 6) made = graph_of(comm);
  if (how == 7) made = others_of(comm, 0);
  if (how == 8) made = others_of(comm, 1);
  if (how == 9) made = merged_of(comm);
  if (how == 10) made = copy_of(comm);
  return made;
}

static void drop(int index) {
  if (comms[index] != MPI_COMM_NULL) MPI_Comm_free(&comms[index]);
  comms[index] = comms[--count];
}

// Every rank draws the same.
static void make_many(int times) {
  for (int i = 0; i < times; ++i) {
    const int parent = draw(count), how = draw(11), which = draw(6), is_used = draw(4);
    if (count == kMost) drop(1 + draw(count - 1));
    if (parent >= count) continue;
    comms[count++] = make(comms[parent], how, which);
    for (int round = 0; round < is_used; ++round) use(comms[1 + draw(count - 1)]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  comms[0] = MPI_COMM_WORLD;
  make_many(40);
  use(MPI_COMM_WORLD);
  make_many(kMade);
  while (count > 1) drop(count - 1);
  // A program's own errors stay what they are.
  MPI_Comm made = MPI_COMM_WORLD;
  int error_class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Comm_dup(MPI_COMM_NULL, &made), &error_class);
  CHECK(error_class == MPI_ERR_COMM, "class %d", error_class);
  return finish("lineage");
}
