// SPDX-License-Identifier: BSD-3-Clause
// A program for `hocket run`: what run_test.py wants its ranks to do.
//
//   run_ranks sum          one sum over all ranks
//   run_ranks again        worlds at the same time, one after the other, and in two contexts
//   run_ranks die R        rank R kills itself while the others wait for it in a barrier
//   run_ranks early R      rank R ends well before it has come
//   run_ranks never R      rank R does not come until it is killed
#include <hocket/hocket.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kFailed = 9 };

static void check(hocket_status_t status, const char* call) {
  if (status == HOCKET_OK) return;
  fprintf(stderr, "%s: %s: %s\n", call, hocket_status_name(status), hocket_error_text());
  exit(kFailed);
}
#define CHECK(call) check(call, #call)

// Which rank this is, before there is a communicator.
static int launched_rank(void) {
  const char* place = getenv("HOCKET_RUN");
  return place == NULL ? 0 : atoi(place);
}

static hocket_comm_t* world_of(hocket_context_t* context) {
  hocket_comm_t* world = NULL;
  CHECK(hocket_comm_world(context, &world));
  return world;
}

static long sum_over(hocket_comm_t* comm) {
  int rank = -1, size = -1;
  CHECK(hocket_comm_rank(comm, &rank));
  CHECK(hocket_comm_size(comm, &size));
  const int64_t mine = rank + 1;
  int64_t sum = 0;
  CHECK(hocket_allreduce(comm, &mine, &sum, 1, HOCKET_INT64, HOCKET_SUM));
  if (rank != launched_rank() || sum != (int64_t)size * (size + 1) / 2) {
    fprintf(stderr, "rank %d of %d: wrong sum %ld\n", rank, size, (long)sum);
    exit(1);
  }
  return (long)sum;
}

static void use_again_and_again(hocket_context_t* context) {
  hocket_comm_t* first = world_of(context);
  hocket_comm_t* second = world_of(context);
  sum_over(second);
  sum_over(first);
  CHECK(hocket_comm_destroy(first));
  sum_over(second);
  first = world_of(context);
  sum_over(first);

  hocket_context_t* other = NULL;
  CHECK(hocket_context_create(NULL, &other));
  hocket_comm_t* third = world_of(other);
  sum_over(third);
  hocket_comm_t* copy = NULL;
  CHECK(hocket_comm_dup(third, &copy));
  CHECK(hocket_comm_destroy(third));
  sum_over(copy);
  CHECK(hocket_comm_destroy(copy));
  CHECK(hocket_context_destroy(other));

  CHECK(hocket_comm_destroy(second));
  sum_over(first);
  CHECK(hocket_comm_destroy(first));
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "sum";
  const int victim = argc > 2 ? atoi(argv[2]) : -1;
  const int is_victim = launched_rank() == victim;
  if (is_victim && strcmp(what, "early") == 0) return 0;
  while (is_victim && strcmp(what, "never") == 0) pause();

  hocket_context_t* context = NULL;
  CHECK(hocket_context_create(NULL, &context));
  if (strcmp(what, "again") == 0) {
    use_again_and_again(context);
    puts("again");
  } else {
    hocket_comm_t* world = world_of(context);
    const long sum = sum_over(world);
    if (strcmp(what, "die") == 0) {
      if (is_victim) raise(SIGKILL);
      CHECK(hocket_barrier(world));
    }
    int rank = -1, size = -1;
    CHECK(hocket_comm_rank(world, &rank));
    CHECK(hocket_comm_size(world, &size));
    printf("rank %d of %d: sum %ld\n", rank, size, sum);
    CHECK(hocket_comm_destroy(world));
  }
  CHECK(hocket_context_destroy(context));
  return 0;
}
