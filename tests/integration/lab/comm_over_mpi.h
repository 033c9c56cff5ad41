// SPDX-License-Identifier: BSD-3-Clause
// A communicator of hocket's C API for all ranks of MPI_COMM_WORLD, which carries its messages.
//
// Thread safety: none.
#ifndef HOCKET_TESTS_COMM_OVER_MPI_H
#define HOCKET_TESTS_COMM_OVER_MPI_H

#include <hocket/mpi_wire.h>
#include <stdio.h>

typedef struct {
  hocket_mpi_wire_t mpi;
  hocket_context_t* context;
  hocket_comm_t* comm;
  int rank, size;
} comm_over_mpi_t;

// Ends the job with the reason if a call has failed.
static inline void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "rank %d: %s: %s: %s\n", rank, call, hocket_status_name(status), hocket_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

static inline int allgather_of_world(const void* send, void* receive, size_t bytes, void* user) {
  (void)user;
  return MPI_Allgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, MPI_COMM_WORLD) != MPI_SUCCESS;
}

// After MPI_Init.
static inline void open_comm(comm_over_mpi_t* over) {
  MPI_Comm_rank(MPI_COMM_WORLD, &over->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &over->size);
  CHECK(hocket_mpi_wire_open(&over->mpi, MPI_COMM_WORLD));
  hocket_context_options_t options = {.struct_size = sizeof options, .wire = &over->mpi.wire};
  const hocket_bootstrap_t bootstrap = {.rank = over->rank, .size = over->size, .allgather = allgather_of_world};
  CHECK(hocket_context_create(&options, &over->context));
  CHECK(hocket_comm_create(over->context, &bootstrap, &over->comm));
}

static inline void close_comm(comm_over_mpi_t* over) {
  CHECK(hocket_comm_destroy(over->comm));
  CHECK(hocket_context_destroy(over->context));
  hocket_mpi_wire_close(&over->mpi);
}

#endif
