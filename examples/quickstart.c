// SPDX-License-Identifier: BSD-3-Clause
// hocket without MPI: four ranks made by fork(), joined into a communicator, and its collectives called.
//
//   cc quickstart.c $(pkg-config --cflags --libs hocket) -o quickstart && ./quickstart
//
// All that hocket asks of its caller is an all-gather, once, so that the ranks can find each other. Every launcher has
// one; here it is a page of shared memory and a barrier of the C library.
#include <hocket/hocket.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRanks = 4, kBlockBytes = 4096 };

typedef struct {
  pthread_barrier_t barrier;
  char blocks[kRanks][kBlockBytes];
} meeting_t;

typedef struct {
  meeting_t* meeting;
  int rank;
} member_t;

static int allgather(const void* send, void* receive, size_t bytes, void* user) {
  member_t* member = user;
  meeting_t* meeting = member->meeting;
  if (bytes > kBlockBytes) return 1;
  memcpy(meeting->blocks[member->rank], send, bytes);
  pthread_barrier_wait(&meeting->barrier);
  for (int rank = 0; rank < kRanks; rank++) memcpy((char*)receive + (size_t)rank * bytes, meeting->blocks[rank], bytes);
  pthread_barrier_wait(&meeting->barrier);
  return 0;
}

// Ends this rank with the reason if a call has failed.
static void check(hocket_status_t status, const char* call) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  exit(1);
}
#define CHECK(call) check(call, #call)

static int run_rank(meeting_t* meeting, int rank) {
  member_t member = {.meeting = meeting, .rank = rank};
  const hocket_bootstrap_t bootstrap = {.rank = rank, .size = kRanks, .allgather = allgather, .user = &member};
  hocket_context_t* context = NULL;
  hocket_comm_t* comm = NULL;
  CHECK(hocket_context_create(NULL, &context));
  CHECK(hocket_comm_create(context, &bootstrap, &comm));

  // Rank 0 says what the others shall scale by.
  double factor = rank == 0 ? 0.5 : 0.0;
  CHECK(hocket_broadcast(comm, &factor, 1, HOCKET_DOUBLE, 0));

  // Everybody contributes, everybody gets the sum.
  const double mine = factor * (rank + 1);
  double sum = 0;
  CHECK(hocket_allreduce(comm, &mine, &sum, 1, HOCKET_DOUBLE, HOCKET_SUM));

  // The same started now and completed later, with room for other work between. Memory from hocket_alloc is read by
  // the peers in place, which pays for long vectors.
  enum { kElements = 100000 };
  hocket_request_t* request = NULL;
  void* memory = NULL;
  CHECK(hocket_alloc(context, kElements * sizeof(int64_t), &memory));
  int64_t* vector = memory;
  for (int64_t i = 0; i < kElements; i++) vector[i] = i * rank;
  CHECK(hocket_allreduce_start(comm, HOCKET_IN_PLACE, vector, kElements, HOCKET_INT64, HOCKET_SUM, &request));
  long other_work = 0;
  hocket_status_t status;
  while ((status = hocket_test(&request)) == HOCKET_IN_PROGRESS) other_work++;
  check(status, "hocket_test");
  CHECK(hocket_barrier(comm));

  const int64_t expected = (int64_t)(kElements - 1) * (kRanks * (kRanks - 1) / 2);
  const int right = sum == 0.5 * (kRanks * (kRanks + 1) / 2) && vector[kElements - 1] == expected;
  printf("rank %d of %d: sum %.1f, last element %lld: %s (looked %ld times while it ran)\n", rank, kRanks, sum,
         (long long)vector[kElements - 1], right ? "right" : "WRONG", other_work);

  CHECK(hocket_free(context, memory));
  CHECK(hocket_comm_destroy(comm));
  CHECK(hocket_context_destroy(context));
  return right ? 0 : 1;
}

int main(void) {
  meeting_t* meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (meeting == MAP_FAILED) return 1;
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&meeting->barrier, &attributes, kRanks);

  for (int rank = 0; rank < kRanks; rank++) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      const int result = run_rank(meeting, rank);
      fflush(stdout);
      _exit(result);
    }
  }
  int failed = 0, status = 0;
  while (wait(&status) > 0) failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return failed;
}
