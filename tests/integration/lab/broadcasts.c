/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts of an MPI program, of mixed lengths and roots, each checked to the last byte.
 *   broadcasts COUNT MOST_BYTES [late|die|short|part]
 *                           late: rank 1 comes a second later than others; die: it kills itself in the middle; short:
 *                           it asks for a byte less than it is sent; part: the same among ranks 0 and 1, while others
 *                           wait for a message of rank 0 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMargin = 64 };

static unsigned next(unsigned* state) {
  *state = *state * 1103515245u + 12345u;
  return *state >> 8;
}

static unsigned char byte_of(int round, int at) { return (unsigned char)(round * 7 + at * 3 + at / 251); }

/* What comes late must not be written to a buffer that is the program's again. */
static int is_touched(const unsigned char* buffer, int most) {
  int touched = 0;
  for (int at = 0; at < most + kMargin; ++at) touched |= buffer[at] != 0x5a;
  return touched;
}

static int is_fatal_on(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(comm, &handler);
  const int is_fatal = handler == MPI_ERRORS_ARE_FATAL;
  MPI_Errhandler_free(&handler);
  return is_fatal;
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
  MPI_Barrier(MPI_COMM_WORLD);  // broadcasts alone set no communicator up
  unsigned char* const buffers = malloc((size_t)2 * (size_t)(most + kMargin));
  memset(buffers, 0x5a, (size_t)2 * (size_t)(most + kMargin));
  unsigned state = 1;
  int wrong = 0;
  if (strcmp(what, "late") == 0) {
    MPI_Bcast(buffers, 1, MPI_BYTE, 0, MPI_COMM_WORLD);
    buffers[0] = 0x5a;
    if (rank == 1) sleep(1);
  }
  if (strcmp(what, "short") == 0) MPI_Bcast(buffers, most - (rank == 1), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (strcmp(what, "part") == 0) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 1, rank, &part);
    MPI_Barrier(part);
    if (rank > 1) MPI_Recv(buffers, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(buffers, most - (rank == 1), MPI_BYTE, 0, part);
    for (int other = 2; rank == 0 && other < size; ++other) MPI_Send(buffers, 1, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  for (int round = 0; round < count; ++round) {
    unsigned char* const buffer = buffers + (round % 2) * (most + kMargin);
    const int root = (int)(next(&state) % (unsigned)size);
    const unsigned longest = next(&state) % 8 == 0 ? (unsigned)most + 1 : 200;
    int bytes = (int)(next(&state) % longest);
    if (bytes > most) bytes = most;
    if (rank == 1 && round == count / 2 && strcmp(what, "die") == 0) raise(SIGKILL);
    for (int at = 0; rank == root && at < bytes; ++at) buffer[at] = byte_of(round, at);
    MPI_Bcast(buffer, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int at = 0; at < bytes; ++at) {
      if (buffer[at] == byte_of(round, at)) continue;
      fprintf(stderr, "rank %d: round %d from %d: byte %d of %d is wrong\n", rank, round, root, at, bytes);
      ++wrong;
      break;
    }
    memset(buffer, 0x5a, (size_t)bytes);
    /* The one of the round before has had time to be spoilt. */
    const unsigned char* const before = buffers + ((round + 1) % 2) * (most + kMargin);
    if (is_touched(before, most)) {
      fprintf(stderr, "rank %d: round %d: the buffer of the round before has been written to\n", rank, round);
      ++wrong;
    }
  }
  if (!is_fatal_on(MPI_COMM_WORLD) || !is_fatal_on(MPI_COMM_SELF)) {
    fprintf(stderr, "rank %d: its error handlers are others than it had\n", rank);
    ++wrong;
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d broadcasts, %d wrong\n", count, all);
  free(buffers);
  MPI_Finalize();
  return 0;
}
