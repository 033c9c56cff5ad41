// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI_COMM_WORLD: communicators of the groups of sessions, which come and go. With "within" as its
// argument MPI_Init comes first and MPI_Finalize last, with "across" between the sessions' first and last calls; with
// "all" communicators are of all processes only, as MPICH 4.0 can't make others before.
#include "check.h"

enum { kCalls = 40, kElements = 600 };

// Open MPI 5 has sessions, and calls itself MPI 3.1.
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static MPI_Session open_session(void) {
  MPI_Session session;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
    printf("skipped: this MPI opens no session\n");
    exit(0);
  }
  return session;
}

static MPI_Comm make_of_all(MPI_Session session, const char* tag) {
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
static MPI_Comm make_of_half(MPI_Session session, const char* tag) {
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
static void call_collectives(MPI_Comm comm, int calls) {
  static int mine[kElements], all[kElements];
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

static void call_on_descendants(MPI_Comm comm) {
  MPI_Comm copy, part;
  MPI_Comm_dup(comm, &copy);
  call_collectives(copy, kCalls / 4);
  MPI_Comm_split(copy, world_rank % 2, -world_rank, &part);
  call_collectives(part, kCalls / 4);
  MPI_Comm_free(&part);
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  const int is_with_world = strcmp(how, "within") == 0;
  if (is_with_world) MPI_Init(&argc, &argv);
  MPI_Session first = open_session();
  // Older than the first communicator of all.
  const int has_halves = strcmp(how, "all") != 0;
  MPI_Comm half = has_halves ? make_of_half(first, "half") : MPI_COMM_NULL;
  if (has_halves) call_collectives(half, 2);
  MPI_Comm comm = make_of_all(first, "all");
  call_collectives(comm, kCalls);
  call_on_descendants(comm);
  if (has_halves) call_collectives(half, 2);
  if (strcmp(how, "across") == 0) {
    MPI_Init(&argc, &argv);
    call_collectives(MPI_COMM_WORLD, kCalls);
    call_on_descendants(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  // The session in which hocket has seen all processes ends before the one that is in use.
  MPI_Session second = open_session();
  MPI_Comm other = make_of_all(second, "other");
  call_collectives(other, kCalls);
  MPI_Comm other_half = has_halves ? make_of_half(second, "other half") : make_of_all(second, "other");
  if (has_halves) MPI_Comm_free(&half);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&first);
  call_collectives(other_half, kCalls);
  call_on_descendants(other);
  MPI_Comm_free(&other_half);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, other);
  MPI_Comm_free(&other);
  MPI_Session_finalize(&second);
  if (is_with_world) MPI_Finalize();
  if (world_rank == 0) printf("sessions: %s\n", all == 0 ? "passed" : "FAILED");
  return all == 0 ? 0 : 1;
}
#else
int main(void) {
  printf("skipped: this MPI is older than sessions\n");
  return 0;
}
#endif
