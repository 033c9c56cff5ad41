// SPDX-License-Identifier: BSD-3-Clause
// A program that takes part in the MPI's progress itself, where the MPI has a function for that, and one whose requests
// another thread completes: while its ranks wait, its own function is called as before, and what completes is seen.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { kLateUs = 200000, kLooks = 40 };  // at least, in a wait as long as that
static const double kSeenLate = 0.05;    // seconds, far more than any rank sleeps between two looks

static atomic_long looks;
static atomic_int is_over;

// --- how each MPI has it

typedef int opal_register_function(int (*)(void));
static opal_register_function* opal_unregister;
static int look_in_open_mpi(void) {
  ++looks;
  return 0;
}

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
static int look_in_mpich(MPIX_Async_thing thing) {
  (void)thing;
  ++looks;
  return is_over ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}
#endif

static int take_part(void) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
  return MPIX_Async_start(look_in_mpich, NULL, MPIX_STREAM_NULL) == MPI_SUCCESS;
#endif
  static const char* const libraries[] = {"libopen-pal.so.80", "libopen-pal.so.40"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; ++i) {
    void* library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) continue;
    opal_register_function* add = (opal_register_function*)dlsym(library, "opal_progress_register");
    opal_unregister = (opal_register_function*)dlsym(library, "opal_progress_unregister");
    return add != NULL && opal_unregister != NULL && add(look_in_open_mpi) == 0;
  }
  return 0;
}

static void leave(void) {
  is_over = 1;
  if (opal_unregister != NULL) CHECK(opal_unregister(look_in_open_mpi) == 0, "it is not registered any more");
  const long before = looks;
  for (int i = 0; i < 1000; ++i) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  CHECK(looks - before <= 1, "%ld looks after the end", looks - before);
}

// --- what ranks wait in

// Rank 0 comes late.
#define WAIT_FOR_RANK_0(what, ...)                                                            \
  do {                                                                                        \
    MPI_Barrier(MPI_COMM_WORLD);                                                              \
    if (world_rank == 0) usleep(kLateUs);                                                     \
    const long before = looks;                                                                \
    __VA_ARGS__;                                                                              \
    if (world_rank != 0) CHECK(looks - before >= kLooks, what ": %ld looks", looks - before); \
  } while (0)

static void add_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void wait_for_rank_0(void) {
  int value = 0;
  MPI_Request request;
  WAIT_FOR_RANK_0("MPI_Recv", {
    for (int to = 1; world_rank == 0 && to < world_size; ++to) MPI_Send(&value, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    if (world_rank != 0) MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  WAIT_FOR_RANK_0("MPI_Wait", {
    for (int to = 1; world_rank == 0 && to < world_size; ++to) MPI_Send(&value, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
    if (world_rank != 0) {
      MPI_Irecv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  // By an operation of the program's, since those that are hocket's own are hocket's to wait for.
  MPI_Op add;
  MPI_Op_create(add_ints, 1, &add);
  WAIT_FOR_RANK_0("MPI_Iallreduce and MPI_Wait", {
    int sum;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, add, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  MPI_Op_free(&add);
}

// --- what another thread completes

static int say_nothing(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 7);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int free_nothing(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel_nothing(void* state, int is_complete) {
  (void)state, (void)is_complete;
  return MPI_SUCCESS;
}

static double completed_at;
static void* complete_late(void* request) {
  usleep(kLateUs);
  completed_at = MPI_Wtime();
  MPI_Grequest_complete(*(MPI_Request*)request);
  return NULL;
}

static void wait_for_another_thread(int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Request request, copy;
    MPI_Status status;
    int count = 0;
    pthread_t thread;
    MPI_Grequest_start(say_nothing, free_nothing, cancel_nothing, NULL, &request);
    copy = request;
    pthread_create(&thread, NULL, complete_late, &copy);
    if (i == 0) {
      MPI_Wait(&request, &status);
    } else {
      MPI_Waitall(1, &request, &status);
    }
    const double seen_after = MPI_Wtime() - completed_at;
    pthread_join(thread, NULL);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(request == MPI_REQUEST_NULL && count == 7, "%d elements", count);
    CHECK(seen_after < kSeenLate, "seen %.3f s after it was complete", seen_after);
  }
}

int main(int argc, char** argv) {
  const int level = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  start_after_init();
  if (take_part()) {
    wait_for_rank_0();
    leave();
  } else if (world_rank == 0) {
    printf("this MPI has no function for it\n");
  }
  if (provided == MPI_THREAD_MULTIPLE) wait_for_another_thread(2);
  return finish("own_progress");
}
