// SPDX-License-Identifier: BSD-3-Clause
// What collectives by requests take beside the blocking ones: begin and wait, start and wait of persistent ones, by
// turns in one process.
//
//   requests [calls=barrier,bcast,...] [bytes=8,4096] [blocks=9] [block_ms=3] [switches=1] [cores_each=0]
//
// The call `nothing` waits for MPI_REQUEST_NULL. With switches=0 hocket is never switched off, where it is preloaded.
#include "blocks.h"
#include "collectives.h"

enum { kMostRoots = 64, kMostLengths = 16 };

static Collective collective;
static MPI_Request persistent[2][kMostRoots];  // made with hocket switched off, and on

static void blocking(int number) { call_blocking(&collective, number % size); }

static void begin_wait(int number) {
  MPI_Request request;
  begin_call(&collective, number % size, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_for_nothing(int number) {
  (void)number;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int roots(void) { return collective.call != kBcast ? 1 : size < kMostRoots ? size : kMostRoots; }

#if HAS_PERSISTENT
static void start_wait(int number) {
  MPI_Request* const request = &persistent[mode][number % roots()];
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}
#endif

static const Variant kVariants[] = {
    {"blocking", blocking},
    {"begin_wait", begin_wait},
#if HAS_PERSISTENT
    {"start_wait", start_wait},
#endif
};
enum { kVariantCount = sizeof kVariants / sizeof *kVariants };

// Persistent requests of each mode, and one call of each variant that is looked at.
static void prepare(const Plan* plan) {
  for (int j = 2 - plan->modes; j < 2; ++j) {
    set_mode(j);
#if HAS_PERSISTENT
    for (int root = 0; root < roots(); ++root) plan_call(&collective, root, &persistent[j][root]);
#endif
    for (int i = 0; i < kVariantCount; ++i) {
      fill(&collective, 1 % size);
      kVariants[i].once(1);
      if (is_right(&collective, 1 % size)) continue;
      fprintf(stderr, "requests: %s of %d bytes, %s, hocket %s: a wrong result on rank %d\n",
              kCallNames[collective.call], collective.bytes, kVariants[i].name, mode_name(plan), rank);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

static void measure_call(const Plan* plan, Call call, int bytes) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);  // hocket sets a communicator up in a call in which all ranks wait for each other
  collective = make_collective(call, bytes, comm);
  prepare(plan);
  char head[80];
  snprintf(head, sizeof head, "\"call\": \"%s\", \"bytes\": %d", kCallNames[call], bytes);
  measure(plan, head, kVariants, kVariantCount);
#if HAS_PERSISTENT
  for (int j = 2 - plan->modes; j < 2; ++j) {
    set_mode(j);
    for (int root = 0; root < roots(); ++root) MPI_Request_free(&persistent[j][root]);
  }
#endif
  free_collective(&collective);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const int known = begin_program(argc, argv, "calls,bytes,blocks,block_ms,switches,cores_each");
  const Plan plan = read_plan(argc, argv);
  const char* const calls = option(argc, argv, "calls", "barrier,bcast,allreduce,allgather,alltoall");
  int lengths[kMostLengths];
  const int count = read_numbers(option(argc, argv, "bytes", "8,4096"), lengths, kMostLengths);
  if (known && is_listed(calls, "nothing")) {
    const Variant nothing = {"wait", wait_for_nothing};
    measure(&plan, "\"call\": \"nothing\", \"bytes\": 0", &nothing, 1);
  }
  for (int call = 0; known && call < kCalls; ++call)
    for (int i = 0; is_listed(calls, kCallNames[call]) && i < (call == kBarrier ? 1 : count); ++i)
      measure_call(&plan, (Call)call, call == kBarrier ? 0 : lengths[i]);
  MPI_Finalize();
  return known ? 0 : 2;
}
