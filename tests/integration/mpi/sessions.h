// SPDX-License-Identifier: BSD-3-Clause
// What test programs of sessions share: communicators of their groups, and what is called on them.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_SESSIONS_H
#define HOCKET_TESTS_INTEGRATION_MPI_SESSIONS_H

#include "check.h"

// Open MPI 5 has sessions, and calls itself MPI 3.1.
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_SESSIONS 1
#else
#define HAS_SESSIONS 0
#endif

#if HAS_SESSIONS
enum { kCalls = 40, kElements = 600 };

static inline MPI_Session open_session(MPI_Info info) {
  MPI_Session session;
  if (MPI_Session_init(info, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
    printf("FAILED: this MPI opens no session\n");
    exit(1);
  }
  return session;
}

static inline MPI_Comm make_of_all(MPI_Session session, const char* tag) {
  MPI_Group all;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  const int code = MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  CHECK(code == MPI_SUCCESS, "%s: %d", tag, code);
  MPI_Group_rank(all, &world_rank);
  MPI_Group_size(all, &world_size);
  MPI_Group_free(&all);
  return comm;
}

// Of ranks r, r + 2, r + 4 and so on.
static inline MPI_Comm make_of_half(MPI_Session session, const char* tag) {
  MPI_Group all, half;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &world_rank);
  MPI_Group_size(all, &world_size);
  int range[1][3] = {{world_rank % 2, world_size - 1, 2}};
  MPI_Group_range_incl(all, 1, range, &half);
  const int code = MPI_Comm_create_from_group(half, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  CHECK(code == MPI_SUCCESS, "%s: %d", tag, code);
  MPI_Group_free(&half);
  MPI_Group_free(&all);
  return comm;
}

// Blocking, non-blocking and persistent ones, against what they must give.
static inline void call_collectives(MPI_Comm comm, int calls) {
  static _Thread_local int mine[kElements], all[kElements];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Barrier(comm);
  MPI_Request persistent;
  MPI_Allreduce_init(mine, all, kElements, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &persistent);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < kElements; ++i) mine[i] = rank * call + i;
    MPI_Allreduce(mine, all, kElements, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < kElements; ++i)
      CHECK(all[i] == call * size * (size - 1) / 2 + size * i, "sum %d of %d", i, all[i]);
    const int root = call % size;
    int value = rank == root ? call + 7 : 0;
    MPI_Bcast(&value, 1, MPI_INT, root, comm);
    CHECK(value == call + 7, "broadcast %d", value);
    MPI_Request request;
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; ++i) CHECK(all[i] == i, "block %d is %d", i, all[i]);
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    for (int i = 0; i < kElements; ++i) CHECK(all[i] == (size - 1) * call + i, "maximum %d is %d", i, all[i]);
  }
  MPI_Request_free(&persistent);
}

// What all ranks have found.
static inline int all_failures(MPI_Comm comm) {
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, comm);
  return all;
}
#endif

static inline int end_sessions(int all) {
  if (world_rank == 0) printf("sessions: %s\n", all == 0 ? "passed" : "FAILED");
  return all == 0 ? 0 : 1;
}

#endif
