// SPDX-License-Identifier: BSD-3-Clause
// Each thread of a rank has a communicator of its own, with calls that wait for nobody, while the job meets in a call
// of another thread: what arrives is right, and the calls are hocket's in the end.
//
//   takeover_threads [CALLS]
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { kThreads = 3, kMoreThanTakeover = 600, kLimitSeconds = 100 };

unsigned long long hocket_mpi_carried_out(void) __attribute__((weak));

static int calls = 3000;
static MPI_Comm comms[kThreads];
static int wrong[kThreads];

static void use(int thread, int first, int number) {
  for (int i = first; i < first + number; ++i) {
    const int root = (i + thread) % world_size;
    long value = world_rank == root ? i * 10L + thread : -1;
    MPI_Request requests[2];
    MPI_Ibcast(&value, 1, MPI_LONG, root, comms[thread], &requests[0]);
    MPI_Ibarrier(comms[thread], &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (value != i * 10L + thread) ++wrong[thread];
  }
}

static void* work(void* number) {
  use((int)(long)number, 0, calls);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  start_after_init();
  alarm(kLimitSeconds);
  if (argc > 1) calls = atoi(argv[1]);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  usleep((useconds_t)(random_number() % 3000));
  set_up(MPI_COMM_WORLD);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    use(i, calls, kMoreThanTakeover);  // the threads may have been done before the job met
    CHECK(wrong[i] == 0, "%d values of thread %d", wrong[i], i);
    const unsigned long long before = hocket_mpi_carried_out != NULL ? hocket_mpi_carried_out() : 0;
    use(i, calls + kMoreThanTakeover, 1);
    if (hocket_mpi_carried_out != NULL) CHECK(hocket_mpi_carried_out() == before + 2, "of thread %d", i);
    MPI_Comm_free(&comms[i]);
  }
  return finish("takeover_threads");
}
