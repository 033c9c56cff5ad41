// SPDX-License-Identifier: BSD-3-Clause
// The share of a computation that fits inside a non-blocking collective, and the processor time that both take.
//
//   overlap [calls=allreduce,alltoall,allgather,bcast] [bytes=8,...] [tests=0] [compute_us=0] [blocks=9] [block_ms=3]
//           [cores_each=0]
//
// Three things are timed by turns, in blocks of calls that follow each other, of which the median counts: `pure`, begin
// and wait; `compute`, a loop in registers, on all ranks at once; `total`, begin, the same loop, wait. The loop has a
// fixed number of rounds: whoever takes its core away makes it longer. It takes about as long as `pure`, or compute_us.
//   overlap = (pure + compute - total) / min(pure, compute), at least 0 and at most 1
// With tests=N there are N calls of MPI_Test between equal parts of the loop. With cores_each=K each rank and whatever
// threads there are in it keep to K cores of its own. A line of JSON for each call and length:
//   pure_us, compute_us, total_us        on the slowest rank; a block has `calls`
//   ..._processor_us of each             processor time of all ranks together, all threads included
//   undisturbed_us                       the loop on a rank alone, as measured before MPI_Init
//   threads                              of a process, the most
#include "blocks.h"
#include "collectives.h"

enum { kPure, kCompute, kTotal, kParts, kMostLengths = 16 };

static Collective collective;
static volatile double sink;
static long rounds;  // of the loop, in one call
static int tests;

static void compute(long count) {
  double x = sink;
  for (long i = 0; i < count; ++i) x = x * 0.999999 + 1e-6;
  sink = x;
}

static void pure(int number) {
  MPI_Request request;
  begin_call(&collective, number % size, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void only_compute(int number) {
  (void)number;
  for (int part = 0; part <= tests; ++part) compute(rounds / (tests + 1));
}

static void both(int number) {
  MPI_Request request;
  int done = 0;
  begin_call(&collective, number % size, &request);
  for (int part = 0; part < tests; ++part) {
    compute(rounds / (tests + 1));
    if (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  compute(rounds / (tests + 1));
  if (!done) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void (*const kOnce[kParts])(int) = {pure, only_compute, both};
static const char* const kPartNames[kParts] = {"pure", "compute", "total"};

// Microseconds that a round takes where nothing disturbs it: the shortest of short pieces.
static double undisturbed_round_us(void) {
  enum { kPieces = 50, kRounds = 50000 };
  double shortest = 0;
  for (int i = 0; i < kPieces; ++i) {
    const double before = clock_us(CLOCK_MONOTONIC);
    compute(kRounds);
    const double taken = clock_us(CLOCK_MONOTONIC) - before;
    if (i == 0 || taken < shortest) shortest = taken;
  }
  return shortest / kRounds;
}

static int threads(void) {
  char line[256];
  int count = 0;
  FILE* const file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "Threads:", 8) == 0) count = atoi(line + 8);
  if (file != NULL) fclose(file);
  return count;
}

// Over all ranks; on rank 0 only.
static double sum(double mine) {
  if (rank != 0) MPI_Send(&mine, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
  for (int from = 1; rank == 0 && from < size; ++from) {
    double other = 0;
    MPI_Recv(&other, 1, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine += other;
  }
  return mine;
}

static void check(const char* part, int number) {
  fill(&collective, number % size);
  meet();
  both(number);
  if (is_right(&collective, number % size)) return;
  fprintf(stderr, "overlap: %s of %d bytes, %s: a wrong result on rank %d\n", kCallNames[collective.call],
          collective.bytes, part, rank);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// A loop that takes as long as asked for, or as begin and wait do, while all ranks compute.
static int calibrate(const Plan* plan, double round_us, double compute_us) {
  const int calls = calls_of_block(pure, plan->block_us);
  const double target = compute_us > 0 ? compute_us : estimate(pure, calls);
  rounds = (long)(target / round_us) + 1;
  for (int i = 0; i < 2; ++i) {
    const double taken = estimate(only_compute, calls);
    rounds = (long)((double)rounds * target / taken) + 1;
  }
  rounds = (long)agree((double)rounds);
  return compute_us > 0 ? calls_of_block(both, plan->block_us) : calls;
}

static void measure_overlap(const Plan* plan, double round_us, double compute_us) {
  static double times[kParts][kMostBlocks], processor[kParts][kMostBlocks];
  rounds = 1;
  check("before", 1);
  const int calls = calibrate(plan, round_us, compute_us);
  for (int block = 0; block < plan->blocks; ++block)
    for (int turn = 0; turn < kParts; ++turn) {
      const int part = (block + turn) % kParts;
      const double before = clock_us(CLOCK_PROCESS_CPUTIME_ID);
      times[part][block] = time_block(kOnce[part], calls);
      processor[part][block] = sum(clock_us(CLOCK_PROCESS_CPUTIME_ID) - before) / calls;
    }
  check("after", 1);
  const double most_threads = most(threads());
  if (rank != 0) return;
  double us[kParts];
  printf("{\"call\": \"i%s\", \"bytes\": %d, \"tests\": %d, \"calls\": %d, \"threads\": %.0f, \"undisturbed_us\": %.4f",
         kCallNames[collective.call], collective.bytes, tests, calls, most_threads, (double)rounds * round_us);
  for (int part = 0; part < kParts; ++part) {
    us[part] = median(times[part], plan->blocks);
    printf(", \"%s_us\": %.4f, \"%s_processor_us\": %.4f", kPartNames[part], us[part], kPartNames[part],
           median(processor[part], plan->blocks));
  }
  const double shorter = us[kPure] < us[kCompute] ? us[kPure] : us[kCompute];
  const double overlap = (us[kPure] + us[kCompute] - us[kTotal]) / shorter;
  printf(", \"overlap\": %.4f}\n", overlap < 0 ? 0 : overlap > 1 ? 1 : overlap);
  fflush(stdout);
}

int main(int argc, char** argv) {
  const int is_kept = keep_to_cores(argc, argv);
  double round_us = undisturbed_round_us();
  MPI_Init(&argc, &argv);
  init_ranks();
  int known = are_options_known(argc, argv, "calls,bytes,tests,compute_us,blocks,block_ms,cores_each");
  known = are_kept(is_kept) && known;
  round_us = agreed_most(round_us);
  const Plan plan = read_plan(argc, argv);
  const char* const calls = option(argc, argv, "calls", "allreduce,alltoall,allgather,bcast");
  int lengths[kMostLengths];
  const int count = read_numbers(option(argc, argv, "bytes", "8,1024,16384,65536,1048576"), lengths, kMostLengths);
  tests = atoi(option(argc, argv, "tests", "0"));
  MPI_Barrier(MPI_COMM_WORLD);  // hocket sets a communicator up in a call in which all ranks wait for each other
  for (int call = kBcast; known && call < kCalls; ++call)
    for (int i = 0; is_listed(calls, kCallNames[call]) && i < count; ++i) {
      collective = make_collective((Call)call, lengths[i], MPI_COMM_WORLD);
      measure_overlap(&plan, round_us, atof(option(argc, argv, "compute_us", "0")));
      free_collective(&collective);
    }
  MPI_Finalize();
  return known ? 0 : 2;
}
