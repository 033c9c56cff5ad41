// SPDX-License-Identifier: BSD-3-Clause
// Programs that call MPI until the very end of the process, or end it in other ways than by returning from main:
//   ending destructor|atexit|library|thread|quick|unfinished
// The first four make collectives and call MPI_Finalize there. The last ends without it, which MPIs may take amiss, but
// not by a crash or a hang.
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static int finishes_late = 0;

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[2 * i] += ((int*)in)[2 * i];
}

// What hocket keeps for a thread and for a process: packed types, the MPI's and the program's operations, a new
// communicator.
static void work(void) {
  MPI_Datatype sparse, vector;
  MPI_Op op;
  MPI_Comm copy;
  int data[2] = {world_rank, -1}, sum[2] = {0, -1};
  MPI_Type_vector(1, 1, 1, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &sparse);
  MPI_Type_commit(&sparse);
  MPI_Op_create(add, 1, &op);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm comm = i == 0 ? MPI_COMM_WORLD : copy;
    MPI_Barrier(comm);
    MPI_Allreduce(data, sum, 1, sparse, op, comm);
    CHECK(sum[0] == world_size * (world_size - 1) / 2 && sum[1] == -1, "sum %d, gap %d", sum[0], sum[1]);
    MPI_Bcast(sum, 1, sparse, 0, comm);
  }
  MPI_Comm_free(&copy);
  MPI_Op_free(&op);
  MPI_Type_free(&sparse);
  MPI_Type_free(&vector);
}

static void end(const char* where) {
  for (int round = 0; round < 20; ++round) work();
  if (finish(where) != 0) _exit(1);
}

// The verdict must be heard, and the exit status be the program's.
__attribute__((destructor)) static void in_destructor(void) {
  if (finishes_late == 1) end("ending in a destructor");
}
static void in_atexit(void) { end("ending in a function of atexit()"); }
static void in_quick_exit(void) { end("ending in a function of at_quick_exit()"); }

static void* in_thread(void* unused) {
  (void)unused;
  work();
  exit(0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "atexit") == 0) atexit(in_atexit);
  if (strcmp(how, "thread") == 0) atexit(in_atexit);
  if (strcmp(how, "quick") == 0) at_quick_exit(in_quick_exit);
  int level = 0;
  MPI_Init_thread(&argc, &argv, strcmp(how, "thread") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &level);
  start_after_init();
  alarm(60);  // a hang is one of the failures that are looked for
  if (strcmp(how, "destructor") == 0)
    finishes_late = 1;  // and does all of its work there
  else
    work();
  if (strcmp(how, "library") == 0) {
    void* library = dlopen(getenv("TEST_LIBRARY"), RTLD_NOW | RTLD_GLOBAL);
    void (**call)(const char*) = library != NULL ? dlsym(library, "to_be_called_at_the_end") : NULL;
    if (call == NULL) {
      fprintf(stderr, "FAILED: TEST_LIBRARY: %s\n", dlerror());
      return 1;
    }
    *call = end;
    // At once on some ranks, with the process on others; not under MPICH, which can't do the second by itself.
#ifdef OPEN_MPI
    if (world_rank % 2 == 0)
#endif
      dlclose(library);
  }
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_exit(NULL);
  }
  if (strcmp(how, "quick") == 0) quick_exit(0);
  if (strcmp(how, "unfinished") == 0) puts("left without MPI_Finalize");
  return 0;
}
