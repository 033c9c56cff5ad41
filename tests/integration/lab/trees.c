// SPDX-License-Identifier: BSD-3-Clause
// Sums along trees that the program chooses by hocket_force() while it runs, on three nodes with NIC engines. Tells how
// many trees there were, how many sums were wrong, and what was refused.
#include <hocket/mpi_wire.h>
#include <stdio.h>
#include <string.h>

enum { kSums = 20 };

static void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

static int allgather(const void* send, void* receive, size_t bytes, void* user) {
  (void)user;
  return MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
}

// How many were wrong.
static int sums(hocket_comm_t* comm, int rank, int size) {
  int wrong = 0;
  for (int i = 0; i < kSums; i++) {
    const double mine[2] = {rank + i, 1};
    double all[2] = {0, 0};
    CHECK(hocket_allreduce(comm, mine, all, 2, HOCKET_DOUBLE, HOCKET_SUM));
    wrong += all[0] != size * (size - 1) / 2 + i * size || all[1] != size;
  }
  return wrong;
}

static const char* answer(hocket_status_t status) { return status == HOCKET_OK ? "accepted" : "refused"; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, wrong = 0, all_wrong = 0, trees = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  hocket_mpi_wire_t mpi;
  CHECK(hocket_mpi_wire_open(&mpi, MPI_COMM_WORLD));
  hocket_context_options_t options = {.struct_size = sizeof options, .wire = &mpi.wire};
  const hocket_bootstrap_t bootstrap = {.rank = rank, .size = size, .allgather = allgather};
  hocket_context_t* context = NULL;
  hocket_comm_t* comm = NULL;
  CHECK(hocket_context_create(&options, &context));
  CHECK(hocket_comm_create(context, &bootstrap, &comm));

  static const char* const kTrees[] = {"leader:across=tree_mm/1", "leader:across=tree_mm/flat",
                                       "leader:across=parents/0.2.0", "leader:across=parents/0.0.0"};
  for (size_t tree = 0; tree < sizeof kTrees / sizeof *kTrees; tree++, trees++) {
    CHECK(hocket_force(comm, "allreduce", kTrees[tree]));
    wrong += sums(comm, rank, size);
  }
  hocket_status_t refused = hocket_force(comm, "allreduce", "leader:across=ring");
  if (rank == 0) printf("ring: %s: %s\n", answer(refused), hocket_error_text());
  wrong += sums(comm, rank, size);
  // Nobody completes it before all have asked.
  hocket_request_t* started = NULL;
  CHECK(hocket_barrier_start(comm, &started));
  refused = hocket_force(comm, "allreduce", kTrees[0]);
  CHECK(hocket_wait(&started));
  if (rank == 0) printf("with a started call: %s\n", answer(refused));
  CHECK(hocket_force(comm, "allreduce", NULL));
  wrong += sums(comm, rank, size);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d trees, %d sums are wrong\n", trees, all_wrong);

  CHECK(hocket_comm_destroy(comm));
  CHECK(hocket_context_destroy(context));
  hocket_mpi_wire_close(&mpi);
  MPI_Finalize();
  return all_wrong != 0;
}
