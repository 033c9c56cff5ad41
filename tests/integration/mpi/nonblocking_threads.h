// SPDX-License-Identifier: BSD-3-Clause
// The part of nonblocking.c that needs MPI_THREAD_MULTIPLE.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_NONBLOCKING_THREADS_H
#define HOCKET_TESTS_INTEGRATION_MPI_NONBLOCKING_THREADS_H

// One thread waits for a call, another is in the next ones on the same communicator: rank 0 in a blocking one, which
// the others begin only when its first thread has told them that the call is over.
static void* wait_and_report(void* request) {
  int word = 0;
  MPI_Wait((MPI_Request*)request, MPI_STATUS_IGNORE);
  for (int i = 1; i < world_size && world_rank == 0; ++i) MPI_Send(&word, 1, MPI_INT, i, 9, MPI_COMM_WORLD);
  return NULL;
}

static void threads_wait_beside_blocking_calls(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    long in = round, out = -1;
    MPI_Request request;
    pthread_t thread;
    begin_sum(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
    pthread_create(&thread, NULL, wait_and_report, &request);
    int word = 0;
    if (world_rank != 0) MPI_Recv(&word, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) block(MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    CHECK(out == (long)world_size * round, "%ld in round %d", out, round);
  }
}

// Threads with communicators of their own, several calls each: what one of them tells the MPI about, another is just
// completing.
enum { kThreads = 2, kCallsOfThread = 6 };
struct Caller {
  MPI_Comm comm;
  int rounds;
  long wrong;
};

static void* make_calls(void* argument) {
  struct Caller* caller = argument;
  for (int round = 0; round < caller->rounds; ++round) {
    long in[kCallsOfThread], out[kCallsOfThread];
    MPI_Request requests[kCallsOfThread];
    for (int i = 0; i < kCallsOfThread; ++i) {
      in[i] = round + i;
      begin_sum(&in[i], &out[i], 1, MPI_LONG, MPI_SUM, caller->comm, &requests[i]);
    }
    for (int done = 0; done < kCallsOfThread; ++done) {
      int which = done;
      if (round % 2 == 0) MPI_Waitany(kCallsOfThread, requests, &which, MPI_STATUS_IGNORE);
      for (int flag = 0; round % 2 != 0 && !flag;) MPI_Test(&requests[which], &flag, MPI_STATUS_IGNORE);
      caller->wrong += out[which] != (long)world_size * (round + which);
    }
  }
  return NULL;
}

// Where one of them has come to its end, its communicator goes at once.
static void threads_each_have_several_calls(int rounds) {
  pthread_t threads[kThreads];
  struct Caller callers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    callers[i] = (struct Caller){MPI_COMM_NULL, rounds, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &callers[i].comm);
    MPI_Barrier(callers[i].comm);
  }
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, make_calls, &callers[i]);
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    CHECK(callers[i].wrong == 0, "%ld of thread %d", callers[i].wrong, i);
    MPI_Comm_free(&callers[i].comm);
  }
}

#endif
