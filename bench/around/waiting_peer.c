// SPDX-License-Identifier: BSD-3-Clause
// What a rank that waits in a collective does to those that need its MPI meanwhile.
//
//   waiting_peer CASE COUNT     (4 ranks, 2 at least; beside.py runs it with and without hocket)
//
// Prints the microseconds of one operation on the slowest rank that makes them:
//   fetch_and_op, accumulate, put   one-sided, on the window of rank 0, which waits in MPI_Barrier: a counter;
//                                   32 KiB; 8 bytes, with a lock and an unlock of its own
//   ssend         rank 1 sends synchronously to rank 0, which has posted its receives and waits in MPI_Barrier
//   rendezvous    rank 1 receives 4 MiB from rank 0, which has posted its sends and waits in MPI_Barrier
//   nbx           a round of dynamic sparse exchange: synchronous sends to two others, MPI_Iprobe until an MPI_Ibarrier
//                 of all is over (Hoefler, Siebert, Lumsdaine, PPoPP 2010)
//   probe         all but rank 0, which waits in MPI_Probe, make barriers of their own
//   file          MPI_File_iwrite_at of 64 KiB by each rank, then MPI_Barrier, then its MPI_Wait
//   ping_pong     ranks 0 and 1 send 8 bytes back and forth while the others wait in MPI_Barrier
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLongs = 4096, kLongMessage = 4 << 20 };

static int rank, size;

// Each of these returns the seconds that its operations have taken on this rank; 0 where it only waited.
static double one_sided(const char* what, int count) {
  long *memory = calloc(kLongs, sizeof *memory), one = 1, got, *many = calloc(kLongs, sizeof *many);
  MPI_Win window;
  MPI_Win_create(memory, kLongs * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  const int is_put = strcmp(what, "put") == 0;
  const double begin = MPI_Wtime();
  if (rank != 0) {
    if (!is_put) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    for (int i = 0; i < count; ++i) {
      if (is_put) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(&one, 1, MPI_LONG, 0, rank, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
        continue;
      }
      if (strcmp(what, "accumulate") == 0)
        MPI_Accumulate(many, kLongs, MPI_LONG, 0, 0, kLongs, MPI_LONG, MPI_SUM, window);
      else
        MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, window);
      MPI_Win_flush(0, window);
    }
    if (!is_put) MPI_Win_unlock(0, window);
  }
  const double taken = rank != 0 ? MPI_Wtime() - begin : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  free(many);
  free(memory);
  return taken;
}

static double ssend(int count) {
  char byte = 0;
  MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
  if (rank == 0)
    for (int i = 0; i < count; ++i) MPI_Irecv(&byte, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == 1)
    for (int i = 0; i < count; ++i) MPI_Ssend(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  const double taken = rank == 1 ? MPI_Wtime() - begin : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
  return taken;
}

static double rendezvous(int count) {
  char* message = calloc(kLongMessage, 1);
  MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == 0)
    for (int i = 0; i < count; ++i) MPI_Isend(message, kLongMessage, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
  if (rank == 1)
    for (int i = 0; i < count; ++i) MPI_Recv(message, kLongMessage, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double taken = rank == 1 ? MPI_Wtime() - begin : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free(message);
  return taken;
}

static double nbx(int count) {
  const double begin = MPI_Wtime();
  for (int round = 0; round < count; ++round) {
    int value = rank, got, sent[2], is_in_barrier = 0, is_over = 0;
    MPI_Request sends[2], barrier;
    for (int i = 0; i < 2; ++i) {
      sent[i] = value;
      MPI_Issend(&sent[i], 1, MPI_INT, (rank + 1 + (round + i) % (size - 1)) % size, round % 1000, MPI_COMM_WORLD,
                 &sends[i]);
    }
    while (!is_over) {
      int has_come;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, round % 1000, MPI_COMM_WORLD, &has_come, &status);
      if (has_come) MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, round % 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (is_in_barrier) {
        MPI_Test(&barrier, &is_over, MPI_STATUS_IGNORE);
      } else {
        int are_sent;
        MPI_Testall(2, sends, &are_sent, MPI_STATUSES_IGNORE);
        if (are_sent) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        is_in_barrier = are_sent;
      }
    }
  }
  return MPI_Wtime() - begin;
}

static double probe(int count) {
  MPI_Comm others;
  char byte = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &others);
  MPI_Barrier(others);
  const double begin = MPI_Wtime();
  if (rank == 0) {
    MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&byte, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int i = 0; i < count; ++i) MPI_Barrier(others);
    if (rank == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  const double taken = rank != 0 ? MPI_Wtime() - begin : 0;
  MPI_Comm_free(&others);
  return taken;
}

static double file(int count) {
  MPI_File handle;
  static char block[64 << 10];
  char name[64] = "";
  if (rank == 0) snprintf(name, sizeof name, "/tmp/waiting_peer-%d", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &handle);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    MPI_Request request;
    MPI_File_iwrite_at(handle, (MPI_Offset)rank * (MPI_Offset)sizeof block, block, sizeof block, MPI_CHAR, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  const double taken = MPI_Wtime() - begin;
  MPI_File_close(&handle);
  return taken;
}

static double ping_pong(int count) {
  char message[8] = {0};
  const double begin = MPI_Wtime();
  for (int i = 0; i < count && rank < 2; ++i) {
    if (rank == 0) MPI_Send(message, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(message, 8, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(message, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
  }
  const double taken = rank < 2 ? MPI_Wtime() - begin : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return taken;
}

// -1: there is no such case.
static double make(const char* what, int count) {
  if (strcmp(what, "fetch_and_op") == 0 || strcmp(what, "accumulate") == 0 || strcmp(what, "put") == 0)
    return one_sided(what, count);
  if (strcmp(what, "ssend") == 0) return ssend(count);
  if (strcmp(what, "rendezvous") == 0) return rendezvous(count);
  if (strcmp(what, "nbx") == 0) return nbx(count);
  if (strcmp(what, "probe") == 0) return probe(count);
  if (strcmp(what, "file") == 0) return file(count);
  if (strcmp(what, "ping_pong") == 0) return ping_pong(count);
  return -1;
}

static void misused(const char* text) {
  if (rank == 0) fprintf(stderr, "waiting_peer: %s; usage: waiting_peer CASE COUNT, cases are in its source\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (size < 3) misused("3 ranks at least");
  if (count < 1) misused("COUNT is 1 at least");
  MPI_Barrier(MPI_COMM_WORLD);
  if (make(argv[1], count < 10 ? count : 10) < 0) misused("there is no such case");
  MPI_Barrier(MPI_COMM_WORLD);
  const double taken = make(argv[1], count);
  double slowest = 0;
  MPI_Reduce(&taken, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.3f\n", slowest / count * 1e6);
  MPI_Finalize();
  return 0;
}
