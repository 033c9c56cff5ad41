// SPDX-License-Identifier: BSD-3-Clause
// The part of progress_rule.c in which rank 0 waits while a collective of its own is under way, and which its peers
// come to when they have ended that. All ranks call the same function.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_PROGRESS_WAITS_H
#define HOCKET_TESTS_INTEGRATION_MPI_PROGRESS_WAITS_H

#include "check.h"

enum { kWaitTag = 11, kOtherWaitTag = 12, kMuchBytes = 1 << 20 };

static MPI_Comm wait_comm, wait_calls_comm;  // without the call under way, and of it
static MPI_Win wait_window;
static char much[kMuchBytes];

static int waits(void) { return world_rank == 0; }
static int releases(void) { return world_rank == 1; }

static void receive_much(void) {
  if (waits()) MPI_Recv(much, kMuchBytes, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, wait_comm, MPI_STATUS_IGNORE);
  if (releases()) MPI_Send(much, kMuchBytes, MPI_CHAR, 0, kWaitTag, wait_comm);
}
static void send_much(void) {
  if (waits()) MPI_Send(much, kMuchBytes, MPI_CHAR, 1, kWaitTag, wait_comm);
  if (releases()) MPI_Recv(much, kMuchBytes, MPI_CHAR, 0, kWaitTag, wait_comm, MPI_STATUS_IGNORE);
}
static void probe_to_match(void) {
  int word = 0;
  MPI_Message message;
  if (waits()) {
    MPI_Mprobe(1, kWaitTag, wait_comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
  if (releases()) MPI_Send(&word, 1, MPI_INT, 0, kWaitTag, wait_comm);
}
static void send_and_receive(void) {
  int word = 0, answer = 0;
  if (waits() || releases())
    MPI_Sendrecv(&word, 1, MPI_INT, 1 - world_rank, kWaitTag, &answer, 1, MPI_INT, 1 - world_rank, kWaitTag, wait_comm,
                 MPI_STATUS_IGNORE);
}
static void wait_for_two(void) {
  int words[2] = {0, 0};
  MPI_Request requests[2];
  if (waits()) {
    MPI_Irecv(&words[0], 1, MPI_INT, 1, kWaitTag, wait_comm, &requests[0]);
    MPI_Irecv(&words[1], 1, MPI_INT, 1, kOtherWaitTag, wait_comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (releases()) MPI_Send(&words[0], 1, MPI_INT, 0, kOtherWaitTag, wait_comm);
  if (releases()) MPI_Send(&words[1], 1, MPI_INT, 0, kWaitTag, wait_comm);
}
static void wait_for_any(void) {
  int word = 0, at = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (waits()) {
    MPI_Irecv(&word, 1, MPI_INT, 1, kWaitTag, wait_comm, &requests[1]);
    MPI_Waitany(2, requests, &at, MPI_STATUS_IGNORE);
  }
  if (releases()) MPI_Send(&word, 1, MPI_INT, 0, kWaitTag, wait_comm);
}
static void test_until(void) {
  int word = 0, is_over = 0;
  MPI_Request request;
  if (waits()) {
    MPI_Irecv(&word, 1, MPI_INT, 1, kWaitTag, wait_comm, &request);
    while (!is_over) MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
  }
  if (releases()) MPI_Send(&word, 1, MPI_INT, 0, kWaitTag, wait_comm);
}
static void look_for_a_message(void) {
  int word = 0, is_there = 0;
  if (waits()) {
    while (!is_there) MPI_Iprobe(1, kWaitTag, wait_comm, &is_there, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, 1, kWaitTag, wait_comm, MPI_STATUS_IGNORE);
  }
  if (releases()) MPI_Send(&word, 1, MPI_INT, 0, kWaitTag, wait_comm);
}
static void barrier_elsewhere(void) { MPI_Barrier(wait_comm); }
static void started_barrier_elsewhere(void) {
  MPI_Request request;
  MPI_Ibarrier(wait_comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void started_barrier_on_the_same(void) {
  MPI_Request request;
  MPI_Ibarrier(wait_calls_comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void sum_on_the_same(void) {
  long one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, wait_calls_comm);
  CHECK(sum == world_size, "%ld of %d", sum, world_size);
}
static void call_of_the_mpi(void) {
  int one = 1, sum = 0;
  native_allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, wait_comm);
  CHECK(sum == world_size, "%d of %d", sum, world_size);
}
// Post, start, complete and wait: rank 0's epoch is open until all others have been in it.
static void expose_window(void) {
  const int zero = 0;
  MPI_Group all, group;
  MPI_Comm_group(wait_comm, &all);
  if (waits()) {
    MPI_Group_excl(all, 1, &zero, &group);
    MPI_Win_post(group, 0, wait_window);
    MPI_Win_wait(wait_window);
  } else {
    MPI_Group_incl(all, 1, &zero, &group);
    MPI_Win_start(group, 0, wait_window);
    MPI_Win_complete(wait_window);
  }
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}
static void duplicate_the_same(void) {
  MPI_Comm copy;
  MPI_Comm_dup(wait_calls_comm, &copy);
  MPI_Comm_free(&copy);
}
static void make_window(void) {
  MPI_Win made;
  long word = 0;
  MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, wait_comm, &made);
  MPI_Win_free(&made);
}

static const struct {
  const char* name;
  void (*wait)(void);
} more_ways[] = {{"MPI_Recv of much", receive_much},
                 {"MPI_Send of much", send_much},
                 {"MPI_Mprobe", probe_to_match},
                 {"MPI_Sendrecv", send_and_receive},
                 {"MPI_Waitall of messages", wait_for_two},
                 {"MPI_Waitany of messages", wait_for_any},
                 {"MPI_Test of a message", test_until},
                 {"MPI_Iprobe", look_for_a_message},
                 {"MPI_Barrier on another communicator", barrier_elsewhere},
                 {"MPI_Wait of MPI_Ibarrier on another communicator", started_barrier_elsewhere},
                 {"MPI_Wait of MPI_Ibarrier on the same communicator", started_barrier_on_the_same},
                 {"MPI_Allreduce on the same communicator", sum_on_the_same},
                 {"an MPI's own MPI_Allreduce", call_of_the_mpi},
                 {"MPI_Win_wait", expose_window},
                 {"MPI_Comm_dup of the same communicator", duplicate_the_same},
                 {"MPI_Win_create", make_window}};
enum { kMoreWays = sizeof more_ways / sizeof *more_ways };

#endif
