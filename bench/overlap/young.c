// SPDX-License-Identifier: BSD-3-Clause
// What communicators take that are made, used a few times by calls that wait for nobody, and freed: those that are
// taken over on the way (docs/interposer.md), and those that go before.
//
//   young [calls=barrier,bcast] [bytes=8] [blocks=9] [block_ms=3] [switches=1] [cores_each=0]
#include "blocks.h"
#include "collectives.h"

static Call call;
static int bytes;

static void use(int times) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Collective collective = make_collective(call, bytes, comm);
  for (int i = 0; i < times; ++i) {
    MPI_Request request;
    begin_call(&collective, i % size, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free_collective(&collective);
  MPI_Comm_free(&comm);
}

#define HOCKET_USED(times)               \
  static void used_##times(int number) { \
    (void)number;                        \
    use(times);                          \
  }
HOCKET_USED(0)
HOCKET_USED(7)
HOCKET_USED(20)
HOCKET_USED(40)
HOCKET_USED(100)
HOCKET_USED(400)
#undef HOCKET_USED

static const Variant kVariants[] = {{"unused", used_0},   {"used_7", used_7},     {"used_20", used_20},
                                    {"used_40", used_40}, {"used_100", used_100}, {"used_400", used_400}};
enum { kVariantCount = sizeof kVariants / sizeof *kVariants };

int main(int argc, char** argv) {
  const int known = begin_program(argc, argv, "calls,bytes,blocks,block_ms,switches,cores_each");
  const Plan plan = read_plan(argc, argv);
  const char* const calls = option(argc, argv, "calls", "barrier,bcast");
  MPI_Barrier(MPI_COMM_WORLD);  // in which the job meets
  for (int one = 0; known && one < kCalls; ++one) {
    if (!is_listed(calls, kCallNames[one])) continue;
    call = (Call)one;
    bytes = call == kBarrier ? 0 : atoi(option(argc, argv, "bytes", "8"));
    char head[80];
    snprintf(head, sizeof head, "\"call\": \"%s\", \"bytes\": %d", kCallNames[one], bytes);
    measure(&plan, head, kVariants, kVariantCount);
  }
  MPI_Finalize();
  return known ? 0 : 2;
}
