// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts, reductions, allreductions, allgathers and alltoalls of an ordinary MPI program, of short and of long
// vectors, from and to all roots, whose results are looked at.
//
//   sums ROUNDS [LATE_US]   prints how many results were wrong, how many calls were made, and a number made of all bits
//                 of all sums of doubles that root 0 or all got: the same wherever they are added in the same order; in
//                 each round each rank comes late to something, by up to so many microseconds
//   sums order    of 3 ranks: prints what 1, 2^53 and -2^53 add up to when rank 1 is late, and when rank 2 is: 0 if the
//                 first two are added first, 1 if the first and the last
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMost = 96 };

static int rank, size;
static long wrong, calls;
static uint64_t bits;

static uint64_t mixed(uint64_t seed) {
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
  return seed ^ seed >> 31;
}

static double number(int round, int of, int i) {
  return (double)(mixed((uint64_t)round * 1000003 + (uint64_t)of * 7919 + (uint64_t)i + 1) >> 11) * 0x1p-53 - 0.5;
}

static void note(const void* result, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) bits = bits * 31 + ((const unsigned char*)result)[i];
}

// Close enough to be right: in which order was added shows in `bits`.
static void look_at_doubles(const double* result, int round, int count, int root) {
  for (int i = 0; i < count; ++i) {
    double expected = 0;
    for (int of = 0; of < size; ++of) expected += number(round, of, i);
    if (result[i] - expected > 1e-12 || expected - result[i] > 1e-12) ++wrong;
  }
  if (root == 0) note(result, (size_t)count * sizeof *result);
}

static void sum_doubles(int round, int count, int root) {
  double mine[kMost], result[kMost];
  for (int i = 0; i < count; ++i) mine[i] = number(round, rank, i);
  MPI_Allreduce(mine, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look_at_doubles(result, round, count, 0);
  MPI_Reduce(mine, result, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank == root) look_at_doubles(result, round, count, root);
  memcpy(result, mine, sizeof mine);
  MPI_Allreduce(MPI_IN_PLACE, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  look_at_doubles(result, round, count, 0);
}

static void greatest_ints(int round, int count, int root) {
  int mine[kMost], result[kMost];
  for (int i = 0; i < count; ++i) mine[i] = (int)mixed((uint64_t)(round * 100 + i) * 64 + (uint64_t)rank);
  for (int all = 0; all < 2; ++all) {
    if (all)
      MPI_Allreduce(mine, result, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    else
      MPI_Reduce(mine, result, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    for (int i = 0; i < count && (all || rank == root); ++i) {
      int expected = mine[i];
      for (int of = 0; of < size; ++of) {
        const int other = (int)mixed((uint64_t)(round * 100 + i) * 64 + (uint64_t)of);
        if (other > expected) expected = other;
      }
      if (result[i] != expected) ++wrong;
    }
  }
}

static void broadcast_bytes(int round, int count, int root) {
  unsigned char buffer[kMost * 8];
  for (int i = 0; i < count; ++i) buffer[i] = (unsigned char)(rank == root ? round + i * 7 : 0);
  MPI_Bcast(buffer, count, MPI_BYTE, root, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    if (buffer[i] != (unsigned char)(round + i * 7)) ++wrong;
}

// Blocks of any length, and in place.
static void exchange_blocks(int round, int bytes) {
  unsigned char mine[64 * kMost], all[64 * kMost];
  for (int i = 0; i < bytes; ++i) mine[i] = (unsigned char)(rank * 31 + round + i);
  for (int in_place = 0; in_place < 2; ++in_place) {
    memset(all, 0, sizeof all);
    if (in_place) memcpy(all + rank * bytes, mine, (size_t)bytes);
    MPI_Allgather(in_place ? MPI_IN_PLACE : mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size * bytes; ++i)
      if (all[i] != (unsigned char)(i / bytes * 31 + round + i % bytes)) ++wrong;
  }
  for (int in_place = 0; in_place < 2; ++in_place) {
    unsigned char* sent = in_place ? all : mine;
    for (int i = 0; i < size * bytes; ++i) sent[i] = (unsigned char)(rank * 17 + i / bytes * 5 + round + i % bytes);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : sent, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size * bytes; ++i)
      if (all[i] != (unsigned char)(i / bytes * 17 + rank * 5 + round + i % bytes)) ++wrong;
  }
}

// Once in a round, before one of its parts: each rank before another.
static void come_late(int round, int part, long most_us) {
  const uint64_t dice = mixed((uint64_t)round * 64 + (uint64_t)rank);
  if (most_us > 0 && (int)(dice % 4) == part) usleep((useconds_t)((dice >> 8) % (uint64_t)most_us));
}

static void add_in_the_order_of_arrival(void) {
  enum { kLateUs = 200000 };
  const double numbers[] = {1, 0x1p53, -0x1p53};
  double sums[2];
  for (int late = 1; late < 3; ++late) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == late) usleep(kLateUs);
    MPI_Allreduce(&numbers[rank % 3], &sums[late - 1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("sums %g %g\n", sums[0], sums[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "order") == 0) {
    add_in_the_order_of_arrival();
    MPI_Finalize();
    return 0;
  }
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const long late_us = argc > 2 ? atol(argv[2]) : 0;
  const int counts[] = {1, 2, 7, 8, 33, 64, 65, kMost};
  for (int round = 0; round < rounds; ++round) {
    const int count = counts[round % 8];
    const int root = round % 3 == 0 ? 0 : round % size;
    come_late(round, 0, late_us);
    sum_doubles(round, count, root);
    come_late(round, 1, late_us);
    greatest_ints(round, count, root);
    come_late(round, 2, late_us);
    broadcast_bytes(round, 1 + round * 13 % (kMost * 8), root);
    come_late(round, 3, late_us);
    exchange_blocks(round, 1 + round * 7 % kMost);
    calls += 10;
  }
  long all[2], both[2] = {wrong, calls};
  MPI_Reduce(both, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  uint64_t all_bits = 0;
  MPI_Reduce(&bits, &all_bits, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%ld results are wrong of %ld calls; bits %016llx\n", all[0], all[1], (unsigned long long)all_bits);
  MPI_Finalize();
  return 0;
}
