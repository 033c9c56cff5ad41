// SPDX-License-Identifier: BSD-3-Clause
// A program without MPI_COMM_WORLD: communicators of the groups of sessions, which come and go. With "within" as its
// argument MPI_Init comes first and MPI_Finalize last, with "across" between the sessions' first and last calls; with
// "all" communicators are of all processes only, as MPICH 4.0 can't make others before.
#include "sessions.h"

#if HAS_SESSIONS
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
  MPI_Session first = open_session(MPI_INFO_NULL);
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
  MPI_Session second = open_session(MPI_INFO_NULL);
  MPI_Comm other = make_of_all(second, "other");
  call_collectives(other, kCalls);
  MPI_Comm other_half = has_halves ? make_of_half(second, "other half") : make_of_all(second, "other");
  if (has_halves) MPI_Comm_free(&half);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&first);
  call_collectives(other_half, kCalls);
  call_on_descendants(other);
  MPI_Comm_free(&other_half);
  const int all = all_failures(other);
  MPI_Comm_free(&other);
  MPI_Session_finalize(&second);
  if (is_with_world) MPI_Finalize();
  return end_sessions(all);
}
#else
int main(void) {
  printf("skipped: this MPI is older than sessions\n");
  return 0;
}
#endif
