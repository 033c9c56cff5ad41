// SPDX-License-Identifier: BSD-3-Clause
// Communicators on which calls wait for nobody: non-blocking ones, and blocking ones in which some ranks go on before
// others have come. Ranks come late, wait for what they have started when they like, and now and then all wait for each
// other, or make a communicator of it. Results are right whoever carries a call out, and hocket does in the end.
//
//   takeover [SECONDS] [alone | threads | duplicate]
//
// duplicate: the job never meets in MPI_COMM_WORLD, but in a duplicate of it, which is freed while others are used.
#include <signal.h>
#include <unistd.h>

#include "requests.h"

enum { kMostCalls = 40, kMostLongs = 600, kLimitSeconds = 100 };

unsigned long long hocket_mpi_carried_out(void) __attribute__((weak));

static long inputs[kMostCalls][kMostLongs * kMostRanks], outputs[kMostCalls][kMostLongs * kMostRanks];
static Call calls[kMostCalls];
static MPI_Request requests[kMostCalls];
static uint64_t own_state;  // each rank's own sequence

static uint64_t own_number(void) {
  own_state = own_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return own_state >> 33;
}

static void on_alarm(int number) {
  (void)number;
  char text[60];
  const int length = snprintf(text, sizeof text, "\nFAILED: rank %d hangs\n", world_rank);
  _exit(write(2, text, (size_t)length) > 0 ? 1 : 2);
}

static void come_late(void) {
  const uint64_t how = own_number() % 16;
  if (how == 0) usleep((useconds_t)(own_number() % 2000));
  if (how < 4)
    for (volatile uint64_t i = own_number() % 20000; i != 0; --i) continue;
}

static unsigned long long carried_out(void) { return hocket_mpi_carried_out != NULL ? hocket_mpi_carried_out() : 0; }

static void prepare(int at, Kind kind) {
  Call* const call = &calls[at];
  call->kind = kind;
  call->root = (int)(random_number() % (uint64_t)world_size);
  call->count = 1 + (int)(random_number() % (random_number() % 8 == 0 ? kMostLongs : 9));
  call->salt = (int)(random_number() % 1000);
  call->input = inputs[at];
  call->output = outputs[at];
  const int longs = inputs_of(call);
  for (int i = 0; i < longs; ++i) inputs[at][i] = value_of(call->salt, world_rank, i);
  clear_output(call);
}

// The blocking forms of those that don't wait for all ranks.
static void run_blocking(Call* call, MPI_Comm comm) {
  if (call->kind == kBcast)
    MPI_Bcast(call->output, call->count, MPI_LONG, call->root, comm);
  else if (call->kind == kGather)
    MPI_Gather(call->input, call->count, MPI_LONG, call->output, call->count, MPI_LONG, call->root, comm);
  else
    MPI_Scan(call->input, call->output, call->count, MPI_LONG, MPI_SUM, comm);
}

static void wait_for_some(int started, int all) {
  for (int i = 0; i < started; ++i) {
    if (requests[i] == MPI_REQUEST_NULL || (!all && own_number() % 4 != 0)) continue;
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    look_at(&calls[i], kind_names[calls[i].kind]);
  }
}

// Calls of any kind in any order, the same on all ranks. `waiting`: of how many one waits for all ranks; 0: none.
static void use(MPI_Comm comm, int number, int waiting) {
  for (int i = 0; i < number; ++i) {
    requests[i] = MPI_REQUEST_NULL;
    prepare(i, (Kind)(random_number() % kKinds));
    come_late();
    if (waiting != 0 && random_number() % (uint64_t)waiting == 0) {
      long sum = 0;
      const long mine = world_rank;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
      CHECK(sum == (long)world_size * (world_size - 1) / 2, "%ld", sum);
    }
    Call* const call = &calls[i];
    const int may_block = call->kind == kBcast || call->kind == kGather || call->kind == kScan;
    if (may_block && random_number() % 3 == 0) {
      run_blocking(call, comm);
      look_at(call, "blocking");
    } else {
      begin(call, comm, &requests[i]);
    }
    wait_for_some(i + 1, 0);
  }
  wait_for_some(number, 1);
}

static MPI_Comm make(MPI_Comm of) {
  MPI_Comm made = MPI_COMM_NULL;
  const int ones[] = {1};
  if (random_number() % 3 == 0)
    MPI_Comm_dup(of, &made);
  else if (random_number() % 2 == 0)
    MPI_Comm_split(of, 0, world_rank, &made);
  else
    MPI_Cart_create(of, 1, &world_size, ones, 0, &made);
  return made;
}

static void use_long(MPI_Comm comm) {
  for (int round = 0; round < 8; ++round) {
    use(comm, 10, 0);
    meet_unseen();
  }
}

// Of a communicator that is used for long and waits for nobody, hocket carries the calls out from some call on.
static void expect_hocket(MPI_Comm comm) {
  use_long(comm);
  const unsigned long long before = carried_out();
  prepare(0, kBcast);
  begin(&calls[0], comm, &requests[0]);
  wait_for_some(1, 1);
  prepare(0, kGather);
  run_blocking(&calls[0], comm);
  look_at(&calls[0], "blocking");
  if (hocket_mpi_carried_out != NULL && may_be_hockets())
    CHECK(carried_out() == before + 2, "%llu of 2", carried_out() - before);
}

static void take_over(MPI_Comm of) {
  MPI_Comm comm = make(of);
  expect_hocket(comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0.7;
  const int by_threads = argc > 2 && strcmp(argv[2], "threads") == 0;
  const int in_duplicate = argc > 2 && strcmp(argv[2], "duplicate") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, by_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  start_after_init();
  signal(SIGALRM, on_alarm);
  alarm((unsigned)seconds + kLimitSeconds);
  own_state = random_state + 77ULL * (uint64_t)world_rank;
  MPI_Comm earlier, unused, duplicate, parent;
  MPI_Comm_dup(MPI_COMM_WORLD, &earlier);
  MPI_Comm_dup(MPI_COMM_WORLD, &unused);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  use(earlier, 20, 0);
  use(unused, 20, 0);
  MPI_Comm_free(&unused);  // before the job meets
  set_up(in_duplicate ? duplicate : MPI_COMM_WORLD);
  expect_hocket(earlier);
  MPI_Comm_free(&earlier);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  take_over(MPI_COMM_WORLD);
  MPI_Comm_free(&duplicate);
  const double end = MPI_Wtime() + seconds;
  int rounds = 0;
  for (int goes_on = 1; goes_on; ++rounds) {
    MPI_Comm comm = make(rounds % 5 == 0 ? parent : MPI_COMM_WORLD);
    const int number = (int)(random_number() % (rounds % 2 == 0 ? kMostCalls : 16));
    use(comm, number, random_number() % 2 == 0 ? 0 : 2 + (int)(random_number() % 8));
    if (random_number() % 8 == 0) {
      MPI_Comm child = make(comm);
      use(child, 16, 0);
      MPI_Comm_free(&child);
    }
    if (random_number() % 16 != 0 || rounds > 100) MPI_Comm_free(&comm);
    const int mine = MPI_Wtime() < end;
    native_allreduce(&mine, &goes_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  // Whatever has become of them, there is room for the next.
  take_over(parent);
  MPI_Comm_free(&parent);
  if (world_rank == 0) printf("%d communicators\n", rounds);
  return finish("takeover");
}
