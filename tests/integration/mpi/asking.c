// SPDX-License-Identifier: BSD-3-Clause
// What MPI 4.1's questions about several requests say of calls of hocket's among null and inactive requests and
// messages: before they are over and afterwards, while all requests stay as they are.
#include "check.h"

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
enum { kNull, kInactiveCall, kInactiveMessage, kCall, kMessage, kPlaces };

static MPI_Request requests[kPlaces];
static MPI_Comm comm;
static long one = 1, all = -1;
static int word = 5, received = -1;

typedef struct {
  int any_flag, any_index, all_flag, number, indices[kPlaces];
} Answers;

static Answers ask(int count, MPI_Request* of) {
  Answers answers = {-1, -7, -1, -7, {-1, -1, -1, -1, -1}};
  MPI_Request before[kPlaces];
  MPI_Status statuses[kPlaces];
  memcpy(before, of, sizeof(MPI_Request) * (size_t)count);
  MPI_Request_get_status_any(count, of, &answers.any_index, &answers.any_flag, statuses);
  MPI_Request_get_status_all(count, of, &answers.all_flag, MPI_STATUSES_IGNORE);
  MPI_Request_get_status_some(count, of, &answers.number, answers.indices, statuses);
  CHECK(memcmp(before, of, sizeof(MPI_Request) * (size_t)count) == 0, "%d requests have changed", count);
  return answers;
}

static void ask_without_active_ones(void) {
  for (int count = 1; count <= kCall; ++count) {
    const Answers answers = ask(count, requests);
    CHECK(answers.any_flag == 1 && answers.any_index == MPI_UNDEFINED, "any of %d: flag %d, index %d", count,
          answers.any_flag, answers.any_index);
    // MPICH says of inactive requests of its own that not all are over.
    if (count <= kInactiveMessage) CHECK(answers.all_flag == 1, "all of %d: flag %d", count, answers.all_flag);
    CHECK(answers.number == MPI_UNDEFINED, "some of %d: %d", count, answers.number);
  }
}

// Rank 0 begins, the others only when it has asked.
static void ask_before_the_end(void) {
  if (world_rank != 0) MPI_Recv(&received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm, &requests[kCall]);
  MPI_Irecv(&received, 1, MPI_INT, world_rank, 2, MPI_COMM_WORLD, &requests[kMessage]);
  if (world_rank != 0) return;
  for (int i = 0; i < 50; ++i) {
    const Answers answers = ask(kPlaces, requests);
    CHECK(answers.any_flag == 0, "any: flag %d, index %d", answers.any_flag, answers.any_index);
    CHECK(answers.all_flag == 0, "all: flag %d", answers.all_flag);
    CHECK(answers.number == 0, "some: %d", answers.number);
  }
  for (int i = 1; i < world_size; ++i) MPI_Send(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
}

static void ask_until_the_call_is_over(void) {
  Answers answers = {0};
  while (!answers.any_flag || answers.number == 0) answers = ask(kPlaces, requests);
  CHECK(answers.any_index == kCall, "any: index %d", answers.any_index);
  CHECK(answers.number == 1 && answers.indices[0] == kCall, "some: %d, the first %d", answers.number,
        answers.indices[0]);
  CHECK(answers.all_flag == 0, "all: flag %d", answers.all_flag);
  CHECK(all == world_size, "%ld", all);
}

static void ask_until_both_are_over(void) {
  MPI_Send(&word, 1, MPI_INT, world_rank, 2, MPI_COMM_WORLD);
  Answers answers = {0};
  while (!answers.all_flag || answers.number != 2) answers = ask(kPlaces, requests);
  CHECK(answers.indices[0] + answers.indices[1] == kCall + kMessage, "%d, %d", answers.indices[0], answers.indices[1]);
  MPI_Waitall(2, &requests[kCall], MPI_STATUSES_IGNORE);
  CHECK(requests[kCall] == MPI_REQUEST_NULL && requests[kMessage] == MPI_REQUEST_NULL, "not null");
  CHECK(received == word, "%d", received);
}

static void run(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  set_up(comm);
  requests[kNull] = MPI_REQUEST_NULL;
  MPI_Allreduce_init(&one, &all, 1, MPI_LONG, MPI_SUM, comm, MPI_INFO_NULL, &requests[kInactiveCall]);
  MPI_Recv_init(&received, 1, MPI_INT, world_rank, 3, MPI_COMM_WORLD, &requests[kInactiveMessage]);
  for (int round = 0; round < 20; ++round) {
    ask_without_active_ones();
    all = received = -1;
    ask_before_the_end();
    ask_until_the_call_is_over();
    ask_until_both_are_over();
  }
  MPI_Request_free(&requests[kInactiveCall]);
  MPI_Request_free(&requests[kInactiveMessage]);
  MPI_Comm_free(&comm);
}
#else
static void run(void) { printf("skipped: this MPI has no questions about several requests\n"); }
#endif

int main(int argc, char** argv) {
  start(&argc, &argv);
  run();
  return finish("asking");
}
