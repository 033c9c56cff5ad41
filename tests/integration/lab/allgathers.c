/* SPDX-License-Identifier: BSD-3-Clause */
/* Allgathers of an MPI program, of mixed lengths, in place and not, with blocks of unequal lengths, each checked to the
 * last byte.
 *   allgathers COUNT MOST_BYTES [late|short|same]
 *                           late: rank 1 comes 200 ms later than others, three times; short: it gives and asks for a
 *                           byte less than others; same: all of MOST_BYTES */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMargin = 64, kMostRanks = 64 };

static unsigned next(unsigned* state) {
  *state = *state * 1103515245u + 12345u;
  return *state >> 8;
}

static unsigned char byte_of(int round, int rank, int at) {
  return (unsigned char)(round * 7 + rank * 31 + at * 3 + at / 251);
}

static int is_wrong(const unsigned char* block, int round, int rank, int bytes) {
  for (int at = 0; at < bytes; ++at)
    if (block[at] != byte_of(round, rank, at)) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  const int most = argc > 2 ? atoi(argv[2]) : 2000;
  const char* what = argc > 3 ? argv[3] : "";
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);  // allgathers alone set no communicator up
  const size_t room = (size_t)size * (size_t)most + kMargin;
  unsigned char* const own = malloc((size_t)most + 1);
  unsigned char* const all = malloc(room);
  memset(all, 0x5a, room);
  unsigned state = 1;
  int wrong = 0;
  if (strcmp(what, "short") == 0) {
    const int bytes = most - (rank == 1);
    memset(own, 0, (size_t)most + 1);
    MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  for (int round = 0; round < count; ++round) {
    const unsigned longest = next(&state) % 8 == 0 ? (unsigned)most + 1 : 200;
    int bytes = strcmp(what, "same") == 0 ? most : (int)(next(&state) % longest);
    if (bytes > most) bytes = most;
    const int is_in_place = next(&state) % 3 == 0;
    const int is_vector = next(&state) % 3 == 0;
    int counts[kMostRanks];
    int at[kMostRanks];
    int end = 0;
    for (int one = 0; one < size; ++one) {
      counts[one] = is_vector ? (one + round) % 3 == 0 ? 0 : bytes / (one + 1) : bytes;
      at[one] = end;
      end += counts[one];
    }
    if (strcmp(what, "late") == 0 && rank == 1 && round % (count / 3 + 1) == 0) usleep(200000);
    unsigned char* const from = is_in_place ? all + at[rank] : own;
    for (int i = 0; i < counts[rank]; ++i) from[i] = byte_of(round, rank, i);
    const void* const given = is_in_place ? MPI_IN_PLACE : own;
    if (is_vector)
      MPI_Allgatherv(given, counts[rank], MPI_BYTE, all, counts, at, MPI_BYTE, MPI_COMM_WORLD);
    else
      MPI_Allgather(given, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (int one = 0; one < size; ++one) {
      if (!is_wrong(all + at[one], round, one, counts[one]) && !is_wrong(from, round, rank, counts[rank])) continue;
      fprintf(stderr, "rank %d: round %d: the %d bytes of rank %d are wrong\n", rank, round, counts[one], one);
      ++wrong;
    }
    memset(all, 0x5a, (size_t)end);
    /* Neither is there anything behind, nor does anything come later. */
    usleep(round % 16 == 0 ? 500 : 0);
    for (size_t i = 0; i < room; ++i) {
      if (all[i] == 0x5a) continue;
      fprintf(stderr, "rank %d: round %d: byte %zu has been written to\n", rank, round, i);
      ++wrong;
      break;
    }
  }
  int sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d allgathers, %d wrong\n", count, sum);
  free(own);
  free(all);
  MPI_Finalize();
  return 0;
}
