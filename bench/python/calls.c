// SPDX-License-Identifier: BSD-3-Clause
// The C side of calls.py: short blocking calls in blocks, and what a call takes in the median block and in the
// quickest.
//
//   hocket run -n 2 ./calls BLOCKS CALLS
#include <hocket/hocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void check(hocket_status_t status) {
  if (status == HOCKET_OK) return;
  fprintf(stderr, "calls: %s\n", hocket_error_text());
  exit(1);
}

static int compare(const void* one, const void* other) {
  const double difference = *(const double*)one - *(const double*)other;
  return (difference > 0) - (difference < 0);
}

static void call(hocket_comm_t* comm, int which, double* input, double* output) {
  if (which == 0) {
    check(hocket_barrier(comm));
  } else if (which == 1) {
    check(hocket_broadcast(comm, output, 1, HOCKET_DOUBLE, 0));
  } else {
    check(hocket_allreduce(comm, input, output, 1, HOCKET_DOUBLE, HOCKET_SUM));
  }
}

int main(int argc, char** argv) {
  static const char* const kNames[] = {"barrier", "broadcast", "allreduce"};
  const int blocks = argc > 2 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : 0;
  hocket_context_t* context = NULL;
  hocket_comm_t* comm = NULL;
  double input = 1, output = 0;
  int rank = 0;
  double* times = calloc(blocks > 0 ? (size_t)blocks : 1, sizeof(double));
  if (blocks < 1 || calls < 1 || times == NULL) {
    fprintf(stderr, "usage: calls BLOCKS CALLS\n");
    return 2;
  }
  check(hocket_context_create(NULL, &context));
  check(hocket_comm_world(context, &comm));
  check(hocket_comm_rank(comm, &rank));
  for (int which = 0; which < 3; which++) {
    for (int block = -1; block < blocks; block++) {  // the first one is not counted
      check(hocket_barrier(comm));
      const double begin = now_us();
      for (int i = 0; i < calls; i++) call(comm, which, &input, &output);
      if (block >= 0) times[block] = (now_us() - begin) / calls;
    }
    qsort(times, (size_t)blocks, sizeof *times, compare);
    if (rank == 0) printf("%s %.4f %.4f\n", kNames[which], times[blocks / 2], times[0]);
  }
  free(times);
  check(hocket_comm_destroy(comm));
  check(hocket_context_destroy(context));
  return 0;
}
