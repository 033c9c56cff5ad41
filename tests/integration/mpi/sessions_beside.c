// SPDX-License-Identifier: BSD-3-Clause
// Sessions beside other things: with "threads" as its argument threads make communicators of all processes at the same
// time, in any order; with "outlived" MPI_Finalize comes after the last session's end, and what was called between goes
// on; with "older" MPI_Init comes after a session's first communicator.
#include <pthread.h>

#include "sessions.h"

#if HAS_SESSIONS
enum { kThreads = 3 };

struct Work {
  MPI_Session session;
  int number;
};

static void* work(void* argument) {
  const struct Work* const own = argument;
  char tag[16];
  snprintf(tag, sizeof tag, "thread %d", own->number);
  MPI_Comm comm = own->number == 0 ? make_of_half(own->session, tag) : make_of_all(own->session, tag);
  call_collectives(comm, kCalls);
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  call_collectives(copy, kCalls);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  return NULL;
}

static int by_threads(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session session = open_session(info);
  MPI_Info_free(&info);
  pthread_t threads[kThreads];
  struct Work works[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    works[i] = (struct Work){session, i};
    pthread_create(&threads[i], NULL, work, &works[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Comm comm = make_of_all(session, "last");
  const int all = all_failures(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return all;
}

// A persistent call, on the communicator of all that MPI_Init has brought, to its end.
static int outlived(int* argc, char*** argv) {
  MPI_Session session = open_session(MPI_INFO_NULL);
  MPI_Comm comm = make_of_all(session, "first");
  call_collectives(comm, kCalls);
  MPI_Init(argc, argv);
  int mine = world_rank, sum = 0;
  MPI_Request request;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  for (int call = 0; call < kCalls; ++call) {
    mine = world_rank + call;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == world_size * (world_size - 1) / 2 + world_size * call, "sum %d", sum);
  }
  MPI_Request_free(&request);
  call_collectives(MPI_COMM_WORLD, kCalls);
  const int all = all_failures(MPI_COMM_WORLD);
  MPI_Finalize();
  return all;
}

// Rank 0 has called once more on a communicator when it comes to MPI_Init.
static int older(int* argc, char*** argv) {
  MPI_Session session = open_session(MPI_INFO_NULL);
  MPI_Comm half = make_of_half(session, "half");
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank == 0) MPI_Ibarrier(half, &request);
  MPI_Init(argc, argv);
  if (world_rank != 0 && world_rank % 2 == 0) MPI_Ibarrier(half, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  call_collectives(half, kCalls);
  call_collectives(MPI_COMM_WORLD, kCalls);
  const int all = all_failures(MPI_COMM_WORLD);
  MPI_Comm_free(&half);
  MPI_Session_finalize(&session);
  MPI_Finalize();
  return all;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "threads";
  if (strcmp(how, "outlived") == 0) return end_sessions(outlived(&argc, &argv));
  if (strcmp(how, "older") == 0) return end_sessions(older(&argc, &argv));
  return end_sessions(by_threads());
}
#else
int main(void) {
  printf("skipped: this MPI is older than sessions\n");
  return 0;
}
#endif
