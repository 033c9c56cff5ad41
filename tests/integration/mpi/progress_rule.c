// SPDX-License-Identifier: BSD-3-Clause
// MPI's rule of progress: rank 0 begins a collective before all others, and then waits in something else until its peer
// has ended that collective, or computes meanwhile. And the other way round: it waits for the collective, by each
// function that does, while its peer waits first for something that rank 0's MPI has yet to do. What isn't moved ends
// by an alarm that names the case.
//
//   progress_rule [SECONDS [FIRST LAST]]   that a case may take; only these of its ways
//   LONG=1   each case of a persistent collective, too, and computing for each collective, timed
#include <signal.h>
#include <unistd.h>

#include "progress_waits.h"
#include "requests.h"

typedef enum {
  kReceive,
  kSynchronousSend,
  kProbe,
  kFence,
  kLock,
  kFile,
  kDuplicate,
  kSplit,
  kCompute,
  kReceiveAmongMany,
  // Rank 0 waits for the collective; its peer needs the MPI of rank 0 before it begins it.
  kTestBeforeSend,
  kWaitBeforeSend,
  kTestallBeforeReceive,
  kWaitanyBeforeReceive,
  kTestBeforePut,
  kFirstOfMore,  // those of progress_waits.h
  kWays = kFirstOfMore + kMoreWays
} Way;
static const char* const own_names[] = {"MPI_Recv",
                                        "MPI_Ssend",
                                        "MPI_Probe",
                                        "MPI_Win_fence",
                                        "MPI_Win_lock",
                                        "MPI_File_open",
                                        "MPI_Comm_dup",
                                        "MPI_Comm_split",
                                        "computing",
                                        "MPI_Recv, 200 calls under way",
                                        "MPI_Test, a peer sends to it first",
                                        "MPI_Wait, a peer sends to it first",
                                        "MPI_Testall, a peer receives from it first",
                                        "MPI_Waitany, a peer receives from it first",
                                        "MPI_Test, a peer puts into its window first"};

static const char* name_of(Way way) { return way < kFirstOfMore ? own_names[way] : more_ways[way - kFirstOfMore].name; }

enum { kLongTotal = 131072, kMany = 200, kManyLongs = 4096 };
enum { kWord = 5, kData = 6, kStarted = 7, kMessageLongs = 65536 };
static const double computing_s = 0.3;

static char case_name[200];
static unsigned limit_s = 60;
static int is_long_run, first_way = 0, last_way = kWays;
static MPI_Comm comm, another;
static MPI_Win fence_window, lock_window;
static long window_memory[2][4], wait_memory[4];
static char path[64];
static long *inputs, *outputs, *message;

static void on_alarm(int number) {
  (void)number;
  static const char text[] = "\nFAILED: hangs in the case ";
  ssize_t written = write(2, text, sizeof text - 1);
  written += write(2, case_name, strlen(case_name));
  written += write(2, "\n", 1);
  _exit(written > 0 ? 1 : 2);
}

// --- waiting in something else ---------------------------------------------------------------------------------------

static void lock_and_put(void) {
  static long one = 1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, lock_window);
  MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, lock_window);
  MPI_Win_flush(1, lock_window);
  MPI_Win_unlock(1, lock_window);
}

static void open_file(void) {
  MPI_File file;
  const int code =
      MPI_File_open(another, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  CHECK(code == MPI_SUCCESS, "%s: %d", path, code);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
}

static void compute(void) {
  volatile double sum = 0;
  for (const double start = MPI_Wtime(); MPI_Wtime() - start < computing_s;)
    for (int i = 1; i < 10000; ++i) sum = sum + 1.0 / i;
}

// What needs all ranks, or is no affair of messages.
static void wait_together(Way way) {
  if (way >= kFirstOfMore) more_ways[way - kFirstOfMore].wait();
  MPI_Comm made = MPI_COMM_NULL;
  if (way == kFence) MPI_Win_fence(0, fence_window);
  if (way == kFile) open_file();
  if (way == kDuplicate) MPI_Comm_dup(another, &made);
  if (way == kSplit) MPI_Comm_split(another, world_rank % 2, 0, &made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

static void wait_elsewhere(Way way) {
  int word = 0;
  if (way == kSynchronousSend) MPI_Ssend(&word, 1, MPI_INT, 1, kWord, another);
  if (way == kProbe) MPI_Probe(1, kWord, another, MPI_STATUS_IGNORE);
  if (way == kReceive || way == kProbe || way == kReceiveAmongMany)
    MPI_Recv(&word, 1, MPI_INT, 1, kWord, another, MPI_STATUS_IGNORE);
  if (way == kLock) lock_and_put();
  if (way == kCompute) compute();
  wait_together(way);
}

// The call is over at this rank.
static void end_elsewhere(Way way) {
  int word = 0;
  if (way == kLock && world_rank == 1) MPI_Win_unlock(1, lock_window);
  if (way == kSynchronousSend && world_rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, kWord, another, MPI_STATUS_IGNORE);
  if ((way == kReceive || way == kProbe || way == kReceiveAmongMany) && world_rank == 1)
    MPI_Send(&word, 1, MPI_INT, 0, kWord, another);
  wait_together(way);
}

// --- what the MPI has yet to do --------------------------------------------------------------------------------------

static int is_peer_first(Way way) { return way >= kTestBeforeSend && way < kFirstOfMore; }
static int sends_first(Way way) { return way == kTestBeforeSend || way == kWaitBeforeSend; }
static int receives_first(Way way) { return way == kTestallBeforeReceive || way == kWaitanyBeforeReceive; }

static void leave_to_do(Way way, MPI_Request* request) {
  for (int i = 0; i < kMessageLongs; ++i) message[i] = receives_first(way) || world_rank == 1 ? i : -1;
  if (world_rank != 0) return;
  if (sends_first(way)) MPI_Irecv(message, kMessageLongs, MPI_LONG, 1, kData, another, request);
  if (receives_first(way)) MPI_Isend(message, kMessageLongs, MPI_LONG, 1, kData, another, request);
}

static void need_the_mpi_of_rank_0(Way way) {
  if (sends_first(way)) MPI_Send(message, kMessageLongs, MPI_LONG, 0, kData, another);
  if (receives_first(way)) {
    memset(message, -1, sizeof(long) * kMessageLongs);
    MPI_Recv(message, kMessageLongs, MPI_LONG, 0, kData, another, MPI_STATUS_IGNORE);
  }
  if (way != kTestBeforePut) return;
  static long here = 17;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, lock_window);
  MPI_Put(&here, 1, MPI_LONG, 0, 1, 1, MPI_LONG, lock_window);
  MPI_Win_unlock(0, lock_window);
}

static void wait_for_call(Way way, MPI_Request* request) {
  int done = 0;
  while ((way == kTestBeforeSend || way == kTestBeforePut) && !done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
  MPI_Status status;
  while (way == kTestallBeforeReceive && !done) MPI_Testall(1, request, &done, &status);
  if (way == kWaitanyBeforeReceive) MPI_Waitany(1, request, &done, MPI_STATUS_IGNORE);
}

static void end_what_was_left(Way way, MPI_Request* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if ((sends_first(way) && world_rank == 0) || (receives_first(way) && world_rank == 1))
    for (int i = 0; i < kMessageLongs; ++i)
      if (message[i] != i) {
        CHECK(0, "%s: %ld in the message at %d", case_name, message[i], i);
        break;
      }
}

// --- cases -----------------------------------------------------------------------------------------------------------

static Call calls[kMany];
static MPI_Request requests[kMany];

static void prepare(Kind kind, int root, int is_long, int number, int is_persistent) {
  const int total = number == 1 ? kLongTotal : kManyLongs;
  const int has_blocks = kind == kAlltoall || kind == kReduceScatter || kind == kGather;
  for (int i = 0; i < number; ++i) {
    calls[i] = (Call){.kind = kind, .root = root, .salt = 5, .input = inputs};
    calls[i].count = !is_long ? 1 : has_blocks ? total / world_size : total;
    calls[i].output = outputs + (long)i * kManyLongs;
    clear_output(&calls[i]);
    if (is_persistent) initialise(&calls[i], comm, &requests[i]);
  }
  for (int i = 0; i < inputs_of(&calls[0]); ++i) inputs[i] = value_of(calls[0].salt, world_rank, i);
}

static void begin_all(int number, int is_persistent) {
  for (int i = 0; i < number; ++i)
    if (is_persistent)
      MPI_Start(&requests[i]);
    else
      begin(&calls[i], comm, &requests[i]);
}

// By a thread of hocket's.
static int is_moved_meanwhile(void) {
  const char* by = getenv("HOCKET_PROGRESS");
  return by == NULL || strcmp(by, "calls") != 0;
}

static void run_case(Kind kind, int root, int is_long, int is_persistent, Way way) {
  snprintf(case_name, sizeof case_name, "%s%s, root %d, %s, rank %d of %d: %s", is_persistent ? "persistent " : "",
           kind_names[kind], root, is_long ? "long" : "short", world_rank, world_size, name_of(way));
  alarm(limit_s);
  if (getenv("SAY") != NULL) fprintf(stderr, "%s\n", case_name);
  const int number = way == kReceiveAmongMany ? kMany : 1;
  MPI_Request left = MPI_REQUEST_NULL;
  int word = 0;
  prepare(kind, root, is_long, number, is_persistent);
  leave_to_do(way, &left);
  if (way == kLock && world_rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, lock_window);
  MPI_Barrier(another);
  if (world_rank == 0) {
    begin_all(number, is_persistent);
    for (int i = 1; i < world_size; ++i) MPI_Send(&word, 1, MPI_INT, i, kStarted, another);
    if (is_peer_first(way))
      wait_for_call(way, &requests[0]);
    else
      wait_elsewhere(way);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, kStarted, another, MPI_STATUS_IGNORE);
    if (world_rank == 1) need_the_mpi_of_rank_0(way);
    const double start = MPI_Wtime();
    begin_all(number, is_persistent);
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
    const double waited_s = MPI_Wtime() - start;
    if (is_long_run && way == kCompute && is_moved_meanwhile())
      CHECK(waited_s < 0.5 * computing_s, "%s: waited %.3f s", case_name, waited_s);
    end_elsewhere(way);
  }
  MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < number && look_at(&calls[i], case_name); ++i) continue;
  for (int i = 0; i < number && is_persistent; ++i) MPI_Request_free(&requests[i]);
  end_what_was_left(way, &left);
  alarm(0);
}

static void set_up_all(void) {
  inputs = malloc(sizeof(long) * kLongTotal);
  outputs = malloc(sizeof(long) * kManyLongs * kMany);
  message = malloc(sizeof(long) * kMessageLongs);
  signal(SIGALRM, on_alarm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &another);
  set_up(comm);
  set_up(another);
  int number = (int)getpid();
  MPI_Bcast(&number, 1, MPI_INT, 0, another);
  snprintf(path, sizeof path, "/tmp/progress_rule.%d", number);
  for (int i = 0; i < 2; ++i)
    MPI_Win_create(window_memory[i], sizeof window_memory[i], sizeof(long), MPI_INFO_NULL, another,
                   i == 0 ? &fence_window : &lock_window);
  MPI_Win_fence(0, fence_window);
  wait_comm = another;
  wait_calls_comm = comm;
  MPI_Win_create(wait_memory, sizeof wait_memory, sizeof(long), MPI_INFO_NULL, another, &wait_window);
}

// In the short run: every collective for what waits in the MPI, and what takes long, or differs little, for some.
static int is_in_run(Kind kind, int is_long, int is_persistent, Way way) {
  if (is_persistent && !kHasPersistent) return 0;
  // MPICH 4.0 by itself sometimes hangs in it.
  if (way == kLock && is_library("MPICH Version:\t4.0")) return 0;
  if (way == kFile && is_library("Intel")) return 0;  // which crashes in them by itself
  if (way == kTestallBeforeReceive && is_persistent && !testall_takes_persistent()) return 0;
  if ((int)way < first_way || (int)way > last_way) return 0;
  if (is_long_run) return 1;
  if (way == kCompute) return kind == kAllreduce && is_long && !is_persistent;
  if (is_persistent || way == kReceiveAmongMany || way >= kFirstOfMore)
    return (int)kind == ((int)way + 3 * is_long) % kKinds;
  return 1;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (argc > 1) limit_s = (unsigned)atoi(argv[1]);
  if (argc > 3) first_way = atoi(argv[2]), last_way = atoi(argv[3]);
  is_long_run = getenv("LONG") != NULL;
  set_up_all();
  int cases = 0;
  for (int kind = 0; kind < kKinds; ++kind)
    for (int root = 0; root < (kind == kBcast || kind == kGather ? 2 : 1); ++root)
      for (int of = 0; of < 4 * kWays; ++of) {
        const int is_long = of / kWays % 2, is_persistent = of / kWays / 2;
        if (!is_in_run((Kind)kind, is_long, is_persistent, (Way)(of % kWays))) continue;
        run_case((Kind)kind, root, is_long, is_persistent, (Way)(of % kWays));
        ++cases;
      }
  alarm(limit_s);
  snprintf(case_name, sizeof case_name, "the end, rank %d", world_rank);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, fence_window);
  MPI_Win_free(&fence_window);
  MPI_Win_free(&lock_window);
  MPI_Win_free(&wait_window);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&another);
  if (world_rank == 0) printf("progress_rule: %d cases\n", cases);
  free(inputs);
  free(outputs);
  free(message);
  return finish("progress_rule");
}
