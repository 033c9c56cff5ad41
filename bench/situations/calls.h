// SPDX-License-Identifier: BSD-3-Clause
// The calls that situations.c measures: each is a function that makes call number `number` of a loop, with a length in
// bytes: that of the message, or of one rank's block.
//
// Before a call of 4 KiB or more a byte of each cache line of its input is written: data that no cache but the rank's
// own has. make_buffers() comes first, make_ring() before calls among neighbours,
// free_buffers() last.
//
// Thread safety: none.
#pragma once

#include "board.h"

// Open MPI 5 has persistent collectives and partitioned messages, but reports an earlier version of the standard.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_MPI_4 1
#else
#define HAS_MPI_4 0
#endif

enum { kLongest = 64 << 10, kLine = 64, kFreshFrom = 4 << 10, kExchanged = 100 };

static char *input, *output;
static MPI_Comm comm = MPI_COMM_NULL, ring = MPI_COMM_NULL;
static int counts[kMostRanks], displacements[kMostRanks];
static MPI_Datatype types[kMostRanks];
static int bytes;
static double compute_us;  // between two tests of a loop

static void set_bytes(int length) {
  bytes = length;
  for (int i = 0; i < size; ++i) {
    counts[i] = bytes;
    displacements[i] = i * bytes;
    types[i] = MPI_CHAR;
  }
}

static void make_buffers(void) {
  const size_t length = (size_t)kLongest * (size_t)size;
  input = aligned_alloc(kLine, length);
  output = aligned_alloc(kLine, length);
  for (size_t i = 0; i < length / sizeof(double); ++i) ((double*)input)[i] = 1;
  memset(output, 0, length);
  comm = MPI_COMM_WORLD;
}

static void make_ring(void) {
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
}

static void free_buffers(void) {
  if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  free(input);
  free(output);
}

// The low bytes of doubles: their sums stay numbers.
static void write_blocks(int blocks) {
  for (size_t i = 0; bytes >= kFreshFrom && i < (size_t)bytes * (size_t)blocks; i += kLine) ++input[i];
}

static void compute(double microseconds) {
  if (microseconds <= 0) return;
  const double until = now_us() + microseconds;
  while (now_us() < until) continue;
}

static void do_barrier(int number) {
  (void)number;
  MPI_Barrier(comm);
}

// By a root that moves, and by rank 0 always.
static void bcast_from(int root) {
  if (rank == root) write_blocks(1);
  MPI_Bcast(rank == root ? input : output, bytes, MPI_CHAR, root, comm);
}

static void reduce_to(int root) {
  write_blocks(1);
  MPI_Reduce(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, root, comm);
}

static void gather_to(int root) {
  write_blocks(1);
  MPI_Gather(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, root, comm);
}

static void scatter_from(int root) {
  if (rank == root) write_blocks(size);
  MPI_Scatter(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, root, comm);
}

static void do_bcast(int number) { bcast_from(number % size); }
static void do_reduce(int number) { reduce_to(number % size); }
static void do_gather(int number) { gather_to(number % size); }
static void do_scatter(int number) { scatter_from(number % size); }
static void do_bcast_of_0(int number) { bcast_from(0 * number); }
static void do_reduce_of_0(int number) { reduce_to(0 * number); }
static void do_gather_of_0(int number) { gather_to(0 * number); }
static void do_scatter_of_0(int number) { scatter_from(0 * number); }

static void do_gatherv(int number) {
  write_blocks(1);
  MPI_Gatherv(input, bytes, MPI_CHAR, output, counts, displacements, MPI_CHAR, number % size, comm);
}

static void do_scatterv(int number) {
  if (rank == number % size) write_blocks(size);
  MPI_Scatterv(input, counts, displacements, MPI_CHAR, output, bytes, MPI_CHAR, number % size, comm);
}

static void do_allreduce(int number) {
  (void)number;
  write_blocks(1);
  MPI_Allreduce(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_allgather(int number) {
  (void)number;
  write_blocks(1);
  MPI_Allgather(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, comm);
}

static void do_allgatherv(int number) {
  (void)number;
  write_blocks(1);
  MPI_Allgatherv(input, bytes, MPI_CHAR, output, counts, displacements, MPI_CHAR, comm);
}

static void do_alltoall(int number) {
  (void)number;
  write_blocks(size);
  MPI_Alltoall(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, comm);
}

static void do_alltoallv(int number) {
  (void)number;
  write_blocks(size);
  MPI_Alltoallv(input, counts, displacements, MPI_CHAR, output, counts, displacements, MPI_CHAR, comm);
}

static void do_alltoallw(int number) {
  (void)number;
  write_blocks(size);
  MPI_Alltoallw(input, counts, displacements, types, output, counts, displacements, types, comm);
}

static void do_reduce_scatter_block(int number) {
  (void)number;
  write_blocks(size);
  MPI_Reduce_scatter_block(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_reduce_scatter(int number) {
  int doubles[kMostRanks];
  (void)number;
  for (int i = 0; i < size; ++i) doubles[i] = bytes / 8;
  write_blocks(size);
  MPI_Reduce_scatter(input, output, doubles, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_scan(int number) {
  (void)number;
  write_blocks(1);
  MPI_Scan(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_exscan(int number) {
  (void)number;
  write_blocks(1);
  MPI_Exscan(input, output, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
}

static void do_neighbor_alltoall(int number) {
  (void)number;
  write_blocks(2);
  MPI_Neighbor_alltoall(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, ring);
}

static void do_neighbor_allgather(int number) {
  (void)number;
  write_blocks(1);
  MPI_Neighbor_allgather(input, bytes, MPI_CHAR, output, bytes, MPI_CHAR, ring);
}

static void do_sendrecv(int number) {
  (void)number;
  write_blocks(1);
  MPI_Sendrecv(input, bytes, MPI_CHAR, (rank + 1) % size, 1, output, bytes, MPI_CHAR, (rank + size - 1) % size, 1, comm,
               MPI_STATUS_IGNORE);
}

static void do_split_barrier_free(int number) {
  MPI_Comm part;
  (void)number;
  MPI_Comm_split(comm, 0, rank, &part);
  MPI_Barrier(part);
  MPI_Comm_free(&part);
}
