// SPDX-License-Identifier: BSD-3-Clause
// Calls in the situations that programs put them into.
//
//   situations board=FILE cells=SITUATION:CALL,... [block_ms=5] [bound=1] [threads=multiple] [limit_s=120]
//
// Prints lines of JSON on rank 0: that a cell begins, and what was measured, microseconds a call on the slowest rank.
// A cell that this MPI cannot have is left out. Situations: those of surroundings.h, and
//
//   first_S       the first call on MPI_COMM_WORLD, for which the last rank comes S seconds after the others: from its
//                 call on until all have returned. The first cell of the job, or it measures something else.
//                 Where rank 0 waits for 0.2 s or more, also the percent of a core that it uses: processor_nothing.
//   dup_first_S   the same on a duplicate, the median of some
//   late_MS       up to 200 calls after the last rank has slept for MS milliseconds, the mean of a call from its first
//                 on, over some repetitions
#include "surroundings.h"

enum { kBlocks = 3, kMostCalls = 20000, kCallsAfterLateness = 200, kWarmUp = 300 };

typedef struct {
  const char* name;
  void (*once)(int number);
  int bytes;
  void (*prepare)(void);  // null: there is nothing to prepare
  void (*dispose)(void);
} Call;

#define BOTH_LENGTHS(NAME) \
  {#NAME "_8", do_##NAME, 8, NULL, NULL}, { #NAME "_64K", do_##NAME, kLongest, NULL, NULL }
#define SHORT(NAME, FUNCTION) {NAME, FUNCTION, 8, NULL, NULL}

static const Call kCalls[] = {
    SHORT("barrier", do_barrier),
    BOTH_LENGTHS(bcast),
    BOTH_LENGTHS(reduce),
    BOTH_LENGTHS(allreduce),
    BOTH_LENGTHS(gather),
    BOTH_LENGTHS(gatherv),
    BOTH_LENGTHS(scatter),
    BOTH_LENGTHS(scatterv),
    BOTH_LENGTHS(allgather),
    BOTH_LENGTHS(allgatherv),
    BOTH_LENGTHS(alltoall),
    BOTH_LENGTHS(alltoallv),
    BOTH_LENGTHS(alltoallw),
    BOTH_LENGTHS(reduce_scatter_block),
    BOTH_LENGTHS(reduce_scatter),
    BOTH_LENGTHS(scan),
    BOTH_LENGTHS(exscan),
    BOTH_LENGTHS(neighbor_alltoall),
    BOTH_LENGTHS(neighbor_allgather),
    BOTH_LENGTHS(sendrecv),
    SHORT("bcast_of_0_8", do_bcast_of_0),
    SHORT("reduce_of_0_8", do_reduce_of_0),
    SHORT("gather_of_0_8", do_gather_of_0),
    SHORT("scatter_of_0_8", do_scatter_of_0),
    SHORT("split_barrier_free", do_split_barrier_free),
    SHORT("ibarrier", do_ibarrier),
    BOTH_LENGTHS(iallreduce),
    BOTH_LENGTHS(ibcast),
    BOTH_LENGTHS(iallgather),
    BOTH_LENGTHS(ialltoall),
    BOTH_LENGTHS(ineighbor_alltoall),
    SHORT("eight_iallreduce", do_eight_iallreduce),
#if HAS_MPI_4
    {"persistent_allreduce_8", do_persistent_allreduce, 8, make_persistent, free_persistent},
    {"persistent_allreduce_64K", do_persistent_allreduce, kLongest, make_persistent, free_persistent},
#endif
    SHORT("test_ibarrier", test_ibarrier),
    SHORT("test_iallreduce_8", test_iallreduce),
    SHORT("get_status_of_ibarrier", get_status_of_ibarrier),
    SHORT("testall_of_two", testall_of_two),
    SHORT("testany_of_two", testany_of_two),
    SHORT("testsome_of_two", testsome_of_two),
    SHORT("iprobe_ring", iprobe_ring),
    SHORT("improbe_ring", improbe_ring),
#if HAS_MPI_4
    {"parrived_ring", parrived_ring, 8, make_partitioned, free_partitioned},
#endif
    SHORT("waitany_of_200", waitany_of_200),
    SHORT("waitsome_of_200", waitsome_of_200),
    SHORT("waitall_of_200", waitall_of_200),
};

static double block_us;
static const char* current_situation;

static double between(double value, double least, double most_of_it) {
  return value < least ? least : value > most_of_it ? most_of_it : value;
}

// The time of these calls on the slowest rank; the same number on all ranks.
static double time_calls(const Call* call, int calls) {
  meet_at_board();
  const double begin = now_us();
  for (int i = 0; i < calls; ++i) call->once(i);
  return largest(now_us() - begin);
}

// Microseconds of a call, by trials that get longer, the shorter of two each; equal on all ranks.
static double estimate(const Call* call) {
  for (int calls = 1;; calls *= 8) {
    const double first = time_calls(call, calls), second = time_calls(call, calls);
    const double taken = first < second ? first : second;
    // A single call may wait for what the one before has left to do.
    if (taken > (calls == 1 ? block_us : block_us / 8) || calls >= kMostCalls) return taken / calls;
  }
}

// A call that is longer than a block is measured by its trial.
static double measure_block(const Call* call) {
  double times[kBlocks];
  const double each = estimate(call);
  const int calls = (int)between(block_us / each, 1, kMostCalls);
  if (each > block_us) return each;
  for (int i = 0; i < kBlocks; ++i) times[i] = time_calls(call, calls) / calls;
  return median(times, kBlocks);
}

// Percent of a core that rank 0 has used since `begin`, in which it waited: a result of its own.
static void print_processor(const char* situation, double begin, double used_before) {
  char cell[80];
  const double used = clock_us(CLOCK_PROCESS_CPUTIME_ID) - used_before;
  snprintf(cell, sizeof cell, "%s:processor_nothing", situation);
  if (rank == 0) print_cell(cell, 100 * used / (now_us() - begin));
}

// Microseconds from the last rank's call on, which comes so much later, until `calls` calls are over on all ranks.
static double time_late(const Call* call, double late_us, int calls) {
  meet_at_board();
  if (rank == size - 1 && late_us > 0) usleep((useconds_t)late_us);
  const double begin = now_us(), used_before = clock_us(CLOCK_PROCESS_CPUTIME_ID);
  call->once(0);
  if (late_us >= 200e3) print_processor(current_situation, begin, used_before);
  for (int i = 1; i < calls; ++i) call->once(i);
  const double end = largest(now_us());
  return end - all_values(begin)[size - 1];
}

static double measure_late(const Call* call, double milliseconds) {
  const double each = estimate(call);
  const int calls = (int)between(4 * block_us / each, 5, kCallsAfterLateness);
  const int repetitions = (int)between(40 * block_us / (1e3 * milliseconds + calls * each), 1, 10);
  double sum = 0;
  for (int i = 0; i < repetitions; ++i) sum += time_late(call, 1e3 * milliseconds, calls) / calls;
  return sum / repetitions;
}

static double measure_dup_first(const Call* call, double seconds) {
  double times[5];
  const int repetitions = seconds == 0 ? 5 : seconds < 0.5 ? 3 : 1;
  for (int i = 0; i < repetitions; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    times[i] = time_late(call, 1e6 * seconds, 1);
    MPI_Comm_free(&comm);
  }
  comm = MPI_COMM_WORLD;
  return median(times, repetitions);
}

// True if `situation` is `name` and a number.
static int has_number(const char* situation, const char* name, double* number) {
  const size_t length = strlen(name);
  if (strncmp(situation, name, length) != 0) return 0;
  *number = atof(situation + length);
  return 1;
}

// Ends the situation that lasts, and begins another unless it is the same.
static void enter(const Surrounding* next) {
  static const Surrounding* current = NULL;
  if (next == current) return;
  meet_at_board();
  if (current != NULL) current->end();
  if (next != NULL) next->begin();
  current = next;
}

static const Surrounding* surrounding_of(const char* situation) {
  for (int i = 0; i < kSurroundingCount; ++i)
    if (strcmp(kSurroundings[i].name, situation) == 0) return &kSurroundings[i];
  return NULL;
}

// Negative: this MPI has no such situation or call.
static double measure(const char* situation, const char* name) {
  const Surrounding* const surrounding = surrounding_of(situation);
  const Call* call = NULL;
  double number = 0, result = -1;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i)
    if (strcmp(kCalls[i].name, name) == 0) call = &kCalls[i];
  if (call == NULL) return -1;
  set_bytes(call->bytes);
  current_situation = situation;
  enter(surrounding);
  if (call->prepare != NULL) call->prepare();
  if (has_number(situation, "first_", &number)) result = time_late(call, 1e6 * number, 1);
  if (has_number(situation, "dup_first_", &number)) result = measure_dup_first(call, number);
  if (has_number(situation, "late_", &number)) result = measure_late(call, number);
  if (surrounding != NULL) result = measure_block(call);
  if (call->dispose != NULL) call->dispose();
  return result;
}

// Makes the takeover of MPI_COMM_WORLD and of the ring, where there is one, happen: some hundred calls, or 50 ms.
static void warm_up(void) {
  make_ring();
  const double limit = largest(now_us()) + 50e3;
  set_bytes(8);
  for (int i = 0; i < kWarmUp / 20 && largest(now_us()) < limit; ++i)
    for (int j = 0; j < 20; ++j) {
      do_barrier(j);
      do_neighbor_alltoall(j);
    }
}

int main(int argc, char** argv) {
  begin_program(argc, argv);
  block_us = 1e3 * atof(word(argc, argv, "block_ms", "5"));
  char* const cells = strdup(word(argc, argv, "cells", ""));
  int is_warm = 0;
  make_buffers();
  for (char *rest = cells, *cell = strtok_r(cells, ",", &rest); cell != NULL; cell = strtok_r(NULL, ",", &rest)) {
    char situation[64] = "";
    const char* const colon = strchr(cell, ':');
    if (colon == NULL || colon - cell >= (long)sizeof situation) continue;
    memcpy(situation, cell, (size_t)(colon - cell));
    if (!is_warm && strncmp(situation, "first_", 6) != 0) {
      warm_up();
      is_warm = 1;
    }
    print_begin(cell);
    const double value = measure(situation, colon + 1);
    if (rank == 0 && value >= 0) print_cell(cell, value);
  }
  enter(NULL);
  free(cells);
  free_buffers();
  MPI_Finalize();
  return 0;
}
