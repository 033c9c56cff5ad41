// SPDX-License-Identifier: BSD-3-Clause
// What a job does while things go wrong: collectives drawn from a seed, on the world, a duplicate and halves of it,
// with every result checked. Built with an MPI (WITH_MPI), or with hocket's C API for `hocket run`.
//
//   workload SEED CALLS [FAULT...]
//
// A fault befalls one rank, or all of them for RANK -1:
//   kill=RANK,CALL,US        it is killed so many microseconds after the beginning of its call number CALL
//   stop=RANK,CALL,US,MS     it is stopped then, and goes on after MS milliseconds
//   end=RANK,CALL            it ends in place of that call, and says nothing
//   differ=RANK,CALL,WHAT    its "collective", "root", "length" or "operation" is not that of the others there
//   limit=RANK,NAME,VALUE    setrlimit(RLIMIT_NAME) before the first call; "+VALUE" is beyond what it uses by then
//   lock=RANK,VALUE          as an unprivileged process that may lock so many bytes, it locks all its memory, now and
//                            to come, before the first call
//   heap=RANK,KIB            it takes so much of the memory that its heap still has, as a library beside it would
// Exit status: 0 when every result was right, which rank 0 says; 3 when calls ended with an error, which each rank
// says; 1 when a result was wrong. After a call that differs a result may be wrong until the rank has been told.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

enum { kMaxCount = 20000, kMaxRanks = 64, kSignalled = 3 };

typedef enum { kBarrier, kBroadcast, kReduce, kAllreduce, kGather, kAllgather, kAlltoall, kCollectives } collective_t;
typedef enum { kSum, kMax, kMin, kOperations } operation_t;

typedef struct call {
  collective_t collective;
  operation_t operation;
  int count, root;
} call_t;

static int world_rank = 0, world_size = 1;
static int64_t *sent, *received;

// --- the two libraries -----------------------------------------------------------------------------------------------

#ifdef WITH_MPI
#include <mpi.h>
typedef MPI_Comm comm_t;

static void begin(int* argc, char*** argv, comm_t* world) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  *world = MPI_COMM_WORLD;
}

static const char* words_for(int code) {
  static char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

static int copy_of(comm_t comm, comm_t* copy) { return MPI_Comm_dup(comm, copy); }
static int half_of(comm_t comm, comm_t* half) { return MPI_Comm_split(comm, world_rank % 2, world_rank, half); }
static void leave(comm_t comm) { MPI_Comm_free(&comm); }
static void end(comm_t world) {
  (void)world;
  MPI_Finalize();
}
static void break_off(void) { MPI_Abort(MPI_COMM_WORLD, kSignalled); }
static int place_in(comm_t comm, int* rank, int* size) {
  MPI_Comm_rank(comm, rank);
  return MPI_Comm_size(comm, size);
}

static int carry_out(const call_t* call, comm_t comm) {
  const MPI_Op operations[] = {MPI_SUM, MPI_MAX, MPI_MIN};
  const MPI_Op operation = operations[call->operation];
  switch (call->collective) {
    case kBarrier:
      return MPI_Barrier(comm);
    case kBroadcast:
      return MPI_Bcast(received, call->count, MPI_INT64_T, call->root, comm);
    case kReduce:
      return MPI_Reduce(sent, received, call->count, MPI_INT64_T, operation, call->root, comm);
    case kAllreduce:
      return MPI_Allreduce(sent, received, call->count, MPI_INT64_T, operation, comm);
    case kGather:
      return MPI_Gather(sent, call->count, MPI_INT64_T, received, call->count, MPI_INT64_T, call->root, comm);
    case kAllgather:
      return MPI_Allgather(sent, call->count, MPI_INT64_T, received, call->count, MPI_INT64_T, comm);
    default:
      return MPI_Alltoall(sent, call->count, MPI_INT64_T, received, call->count, MPI_INT64_T, comm);
  }
}
#else
#include <hocket/hocket.h>
typedef hocket_comm_t* comm_t;

static hocket_context_t* context = NULL;

static const char* words_for(int code) {
  (void)code;
  return hocket_error_text();
}

static void must(int code, const char* what) {
  if (code == HOCKET_OK) return;
  const char* place = getenv("HOCKET_RUN");
  fprintf(stderr, "workload: rank %d was told in %s: %s\n", place == NULL ? 0 : atoi(place), what, words_for(code));
  exit(kSignalled);
}

static void begin(int* argc, char*** argv, comm_t* world) {
  (void)argc;
  (void)argv;
  must(hocket_context_create(NULL, &context), "hocket_context_create");
  must(hocket_comm_world(context, world), "hocket_comm_world");
  hocket_comm_rank(*world, &world_rank);
  hocket_comm_size(*world, &world_size);
}

static int copy_of(comm_t comm, comm_t* copy) { return hocket_comm_dup(comm, copy); }
static int half_of(comm_t comm, comm_t* half) { return hocket_comm_split(comm, world_rank % 2, world_rank, half); }
static void leave(comm_t comm) { hocket_comm_destroy(comm); }
static void end(comm_t world) {
  hocket_comm_destroy(world);
  hocket_context_destroy(context);
}
static void break_off(void) { exit(kSignalled); }
static int place_in(comm_t comm, int* rank, int* size) {
  hocket_comm_rank(comm, rank);
  return hocket_comm_size(comm, size);
}

static int carry_out(const call_t* call, comm_t comm) {
  const hocket_op_t operations[] = {HOCKET_SUM, HOCKET_MAX, HOCKET_MIN};
  const hocket_op_t operation = operations[call->operation];
  const size_t count = (size_t)call->count;
  switch (call->collective) {
    case kBarrier:
      return hocket_barrier(comm);
    case kBroadcast:
      return hocket_broadcast(comm, received, count, HOCKET_INT64, call->root);
    case kReduce:
      return hocket_reduce(comm, sent, received, count, HOCKET_INT64, operation, call->root);
    case kAllreduce:
      return hocket_allreduce(comm, sent, received, count, HOCKET_INT64, operation);
    case kGather:
      return hocket_gather(comm, sent, received, count, HOCKET_INT64, call->root);
    case kAllgather:
      return hocket_allgather(comm, sent, received, count, HOCKET_INT64);
    default:
      return hocket_alltoall(comm, sent, received, count, HOCKET_INT64);
  }
}
#endif

// --- calls and their results -----------------------------------------------------------------------------------------

static uint64_t random_state;
static int draw(int below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int)(random_state % (uint64_t)below);
}

static call_t next_call(int size) {
  static const int counts[] = {1, 5, 300, kMaxCount};
  const call_t call = {(collective_t)draw(kCollectives), (operation_t)draw(kOperations), counts[draw(4)], draw(size)};
  return call;
}

// What a rank gives; `block` is that for a receiver, where each has its own.
static int64_t given(int rank, int block, int number, int i) {
  return (int64_t)rank * 31 + (int64_t)block * 7 + number + i % 13;
}

static int64_t combined(const call_t* call, int size, int number, int i) {
  int64_t result = given(0, 0, number, i);
  for (int rank = 1; rank < size; ++rank) {
    const int64_t value = given(rank, 0, number, i);
    if (call->operation == kSum) result += value;
    if (call->operation == kMax && value > result) result = value;
    if (call->operation == kMin && value < result) result = value;
  }
  return result;
}

static int blocks_sent(const call_t* call, int size) { return call->collective == kAlltoall ? size : 1; }

static void fill(const call_t* call, int rank, int size, int number) {
  for (int block = 0; block < blocks_sent(call, size); ++block)
    for (int i = 0; i < call->count; ++i) sent[block * call->count + i] = given(rank, block, number, i);
  for (int i = 0; i < size * call->count; ++i) received[i] = -1;
  if (call->collective == kBroadcast && rank == call->root)
    for (int i = 0; i < call->count; ++i) received[i] = given(rank, 0, number, i);
}

static int is_right(const call_t* call, int rank, int size, int number) {
  const int is_root = rank == call->root;
  for (int i = 0; i < call->count; ++i) {
    switch (call->collective) {
      case kBarrier:
        break;
      case kBroadcast:
        if (received[i] != given(call->root, 0, number, i)) return 0;
        break;
      case kReduce:
      case kAllreduce:
        if ((is_root || call->collective == kAllreduce) && received[i] != combined(call, size, number, i)) return 0;
        break;
      default:
        if (call->collective == kGather && !is_root) break;
        for (int from = 0; from < size; ++from) {
          const int block = call->collective == kAlltoall ? rank : 0;
          if (received[from * call->count + i] != given(from, block, number, i)) return 0;
        }
    }
  }
  return 1;
}

// --- faults ----------------------------------------------------------------------------------------------------------

typedef struct fault {
  char kind[16], word[32], value[32];
  int rank, call, us, ms;
} fault_t;

static fault_t parse(const char* text) {
  fault_t fault = {.call = -1};
  if (sscanf(text, "kill=%d,%d,%d", &fault.rank, &fault.call, &fault.us) != 3 &&
      sscanf(text, "stop=%d,%d,%d,%d", &fault.rank, &fault.call, &fault.us, &fault.ms) != 4 &&
      sscanf(text, "differ=%d,%d,%31[a-z]", &fault.rank, &fault.call, fault.word) != 3 &&
      sscanf(text, "limit=%d,%31[A-Z],%31[+0-9]", &fault.rank, fault.word, fault.value) != 3 &&
      sscanf(text, "lock=%d,%31[0-9]", &fault.rank, fault.value) != 2 &&
      sscanf(text, "heap=%d,%31[0-9]", &fault.rank, fault.value) != 2 &&
      sscanf(text, "end=%d,%d", &fault.rank, &fault.call) != 2)
    misused(text);
  sscanf(text, "%15[a-z]", fault.kind);
  return fault;
}

static int is(const fault_t* fault, const char* kind) { return strcmp(fault->kind, kind) == 0; }
static int is_here(const fault_t* fault) { return fault->rank == -1 || fault->rank == world_rank; }

static void before_call(const fault_t* fault, int number) {
  if (!is_here(fault) || fault->call != number) return;
  if (is(fault, "kill")) send_later(SIGKILL, fault->us);
  if (is(fault, "stop")) {
    send_later(SIGCONT, fault->us + fault->ms * 1000L);
    send_later(SIGSTOP, fault->us);
  }
  if (is(fault, "end")) _exit(0);
}

// What all ranks call where one of them is to differ; on the one, what it calls.
static void make_differ(const fault_t* fault, call_t* call, int size) {
  const int here = is_here(fault);
  const char* what = fault->word;
  if (strcmp(what, "collective") == 0) {
    if (here) call->collective = call->collective == kBarrier ? kAllreduce : kBarrier;
  } else if (strcmp(what, "root") == 0) {
    call->collective = call->count % 2 == 0 ? kBroadcast : kReduce;
    if (here) call->root = (call->root + 1) % size;
  } else if (strcmp(what, "length") == 0) {
    if (call->collective == kBarrier) call->collective = kAllreduce;
    if (here) call->count = call->count > 1 ? call->count - 1 : 2;
  } else if (strcmp(what, "operation") == 0) {
    call->collective = kAllreduce;
    if (here) call->operation = (operation_t)((call->operation + 1) % kOperations);
  } else {
    misused(what);
  }
}

static void before_all(const fault_t* fault) {
  if (!is_here(fault)) return;
  if (is(fault, "limit")) lower_limit(fault->word, fault->value);
  if (is(fault, "lock")) lock_all(fault->value, world_rank);
  if (is(fault, "heap")) take_heap(atoi(fault->value));
}

// --- the job ---------------------------------------------------------------------------------------------------------

enum { kComms = 3 };
static comm_t comms[kComms];

// 0, or what the program ends with. Where a call has differed, ranks are told of it: *differing is the communicator on
// which all calls are made from then on, else -1.
static int make_call(int number, const fault_t* faults, int fault_count, int* differing) {
  int which = draw(kComms);
  if (*differing >= 0) which = *differing;
  int rank = 0, size = 1;
  place_in(comms[which], &rank, &size);
  call_t call = next_call(world_size);
  for (int i = 0; i < fault_count; ++i) {
    before_call(&faults[i], number);
    if (!is(&faults[i], "differ") || faults[i].call != number) continue;
    *differing = which %= 2;  // of all ranks
    place_in(comms[which], &rank, &size);
    make_differ(&faults[i], &call, size);
  }
  call.root %= size;
  fill(&call, rank, size, number);
  const int code = carry_out(&call, comms[which]);
  if (code != 0) {
    fprintf(stderr, "workload: rank %d was told in call %d: %s\n", world_rank, number, words_for(code));
    return kSignalled;
  }
  if (*differing >= 0 || is_right(&call, rank, size, number)) return 0;
  fprintf(stderr, "workload: rank %d: WRONG result of call %d: collective %d of %d elements, root %d, operation %d\n",
          world_rank, number, call.collective, call.count, call.root, call.operation);
  _exit(1);  // the others may wait for its next call
}

// What a program does that is told: others may wait for it elsewhere. They get the time to say what they are told.
static void stop_all(void) {
  sleep(1);
  break_off();
}

static int make_all(int calls, const fault_t* faults, int fault_count) {
  int differing = -1;
  // From here on all calls are hocket's.
  const call_t barrier = {kBarrier, kSum, 0, 0};
  for (int which = 0; which < kComms; ++which) {
    const int code = carry_out(&barrier, comms[which]);
    if (code == 0) continue;
    fprintf(stderr, "workload: rank %d was told in the first call: %s\n", world_rank, words_for(code));
    return kSignalled;
  }
  for (int number = 0; number < calls; ++number) {
    const int status = make_call(number, faults, fault_count, &differing);
    if (status != 0 && differing < 0) stop_all();
    if (status != 0) return status;  // all ranks must get here
  }
  if (differing < 0) return 0;
  fprintf(stderr, "workload: rank %d: WRONG: nobody was told that a call differed\n", world_rank);
  return 1;
}

// The program's own memory is not what limits are to bite.
static void prepare(const fault_t* faults, int fault_count) {
  const size_t bytes = sizeof *sent * kMaxCount * (size_t)world_size;
  if (world_size > kMaxRanks) misused("the number of ranks");
  sent = malloc(bytes);
  received = malloc(bytes);
  if (sent == NULL || received == NULL) misused("memory");
  memset(sent, 0, bytes);
  memset(received, 0, bytes);
  for (int i = 0; i < fault_count; ++i) before_all(&faults[i]);
}

int main(int argc, char** argv) {
  fault_t faults[8];
  int fault_count = 0;
  if (argc < 3 || argc > 3 + 8) misused(argc > 1 ? argv[1] : "");
  for (int i = 3; i < argc; ++i) faults[fault_count++] = parse(argv[i]);
#ifdef WITH_MPI
  begin(&argc, &argv, &comms[0]);
  prepare(faults, fault_count);
#else
  // Set-up begins with the world.
  const char* place = getenv("HOCKET_RUN");
  if (place != NULL && sscanf(place, "%d/%d", &world_rank, &world_size) != 2) misused(place);
  prepare(faults, fault_count);
  begin(&argc, &argv, &comms[0]);
#endif
  random_state = strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252u;
  int status = copy_of(comms[0], &comms[1]);
  if (status == 0) status = half_of(comms[0], &comms[2]);
  if (status != 0) {
    fprintf(stderr, "workload: rank %d was told before the first call: %s\n", world_rank, words_for(status));
    stop_all();
  }
  status = make_all(atoi(argv[2]), faults, fault_count);
  leave(comms[2]);
  leave(comms[1]);
  if (status == 0 && world_rank == 0) puts("workload: right");
  fflush(stdout);
  end(comms[0]);
  return status;
}
