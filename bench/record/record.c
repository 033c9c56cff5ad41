// SPDX-License-Identifier: BSD-3-Clause
// Short calls of two ranks, and calls that wait for nobody, one after the other: medians of blocks, in nanoseconds a
// call, as "name number" on rank 0. With an argument each rank holds a handle of the performance variable of that name
// meanwhile. For record.py.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 41, kCalls = 20000 };

static int rank, size;
static long sent, received;

static void call_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void call_allreduce(void) { MPI_Allreduce(&sent, &received, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }
static void call_bcast(void) { MPI_Bcast(&sent, 1, MPI_LONG, 0, MPI_COMM_WORLD); }
static void call_barrier_alone(void) { MPI_Barrier(MPI_COMM_SELF); }
static void call_test(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}
static void send_to_self(void) {
  MPI_Sendrecv(&sent, 1, MPI_LONG, 0, 1, &received, 1, MPI_LONG, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static void pass_to_and_fro(void) {
  if (rank > 1) return;
  if (rank == 0) MPI_Send(&sent, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD);
  MPI_Recv(&received, 1, MPI_LONG, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(&sent, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
}

static int compare(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return a < b ? -1 : a > b;
}

static void measure(const char* name, void (*call)(void)) {
  double times[kBlocks];
  for (int block = 0; block < kBlocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < kCalls; ++i) call();
    times[block] = (MPI_Wtime() - begin) * 1e9 / kCalls;
  }
  qsort(times, kBlocks, sizeof *times, compare);
  if (rank == 0) printf("%s %.1f\n", name, times[kBlocks / 2]);
}

static int hold(const char* name) {
  int provided = 0, number = 0, count = 0;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
         MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &number) == MPI_SUCCESS &&
         MPI_T_pvar_session_create(&session) == MPI_SUCCESS &&
         MPI_T_pvar_handle_alloc(session, number, NULL, &handle, &count) == MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && !hold(argv[1])) {
    fprintf(stderr, "record: there is no performance variable %s\n", argv[1]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 100; ++i) {
    call_barrier();
    call_allreduce();
    call_bcast();
  }
  measure("barrier", call_barrier);
  measure("allreduce", call_allreduce);
  measure("bcast", call_bcast);
  measure("barrier-alone", call_barrier_alone);
  measure("test-null", call_test);
  measure("sendrecv-self", send_to_self);
  if (size > 1) measure("to-and-fro", pass_to_and_fro);
  MPI_Finalize();
  return 0;
}
