// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives, many at a time on two communicators, among messages and blocking collectives, completed by
// every function that completes requests, in another order on each rank; and that they go on while a rank does
// something else.
//
//   nonblocking [ROUNDS [engines]]   "engines": NIC engines carry out what is short, so that what is promised of those
//                                    calls alone is looked at, too
#include <pthread.h>
#include <unistd.h>

#include "check.h"

enum { kMost = 40, kLongest = 90, kPlaces = 2 * kMost + 2 };
typedef enum { kIbarrier, kIbcast, kIreduce, kIallreduce, kKinds } Kind;

// A call on its way, and what it is to bring. All numbers are whole, and small, so that sums are exact in any type.
typedef struct {
  Kind kind;
  MPI_Comm comm;
  int rank, size, root, count, type, op, in_place, salt;
  double input[kLongest], output[kLongest], spread[2 * kLongest];
  int is_spread;
  MPI_Datatype after;  // made when the type of a spread one had gone
} Call;

enum { kTypes = 4, kOps = 3 };
static MPI_Datatype types[kTypes];
static MPI_Op ops[kOps];
static int engines;
static uint64_t own_state;  // of this rank's own choices

static int own_number(int below) {
  own_state = own_state * 6364136223846793005ull + 1442695040888963407ull;
  return (int)((own_state >> 33) % (uint64_t)below);
}

static _Atomic long sums;  // started by this rank

static void begin_sum(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request* request) {
  ++sums;
  MPI_Iallreduce(in, out, count, type, op, comm, request);
}

static void put(void* buffer, int type, int at, long value) {
  switch (type) {
    case 0:
      ((int*)buffer)[at] = (int)value;
      break;
    case 1:
      ((long*)buffer)[at] = value;
      break;
    case 2:
      ((float*)buffer)[at] = (float)value;
      break;
    default:
      ((double*)buffer)[at] = (double)value;
      break;
  }
}
static long get(const void* buffer, int type, int at) {
  switch (type) {
    case 0:
      return ((const int*)buffer)[at];
    case 1:
      return ((const long*)buffer)[at];
    case 2:
      return (long)((const float*)buffer)[at];
    default:
      return (long)((const double*)buffer)[at];
  }
}

static long value_of(const Call* call, int rank, int i) { return (call->salt + rank * 31 + i * 7) % 1000; }

static long expected(const Call* call, int i) {
  if (call->kind == kIbcast) return value_of(call, call->root, i);
  long result = value_of(call, 0, i);
  for (int rank = 1; rank < call->size; ++rank) {
    const long value = value_of(call, rank, i);
    if (call->op == 0) result += value;
    if (call->op == 1) result = value > result ? value : result;
    if (call->op == 2) result = value < result ? value : result;
  }
  return result;
}

// The same on all ranks.
static void choose(Call* call, MPI_Comm comm) {
  memset(call, 0, sizeof *call);
  call->kind = (Kind)(random_number() % kKinds);
  call->comm = comm;
  MPI_Comm_rank(comm, &call->rank);
  MPI_Comm_size(comm, &call->size);
  call->root = (int)(random_number() % (uint64_t)call->size);
  call->type = (int)(random_number() % kTypes);
  call->op = (int)(random_number() % kOps);
  const int short_count = 1 + (int)(random_number() % 64);
  call->count = random_number() % 8 == 0 ? kLongest : short_count;  // beyond 512 bytes, for some types
  call->in_place = random_number() % 3 == 0;
  call->is_spread = random_number() % 3 == 0;
  call->salt = (int)(random_number() % 1000);
}

static void begin_bcast(Call* call, MPI_Request* request) {
  const int gives = call->rank == call->root;
  if (!call->is_spread) {
    for (int i = 0; i < call->count; ++i) put(call->output, call->type, i, gives ? value_of(call, call->root, i) : -1);
    MPI_Ibcast(call->output, call->count, types[call->type], call->root, call->comm, request);
    return;
  }
  // Every second element on the odd ranks, which the others have side by side; and the type goes at once.
  const int step = call->rank % 2 + 1;
  for (int i = 0; i < 2 * call->count; ++i) put(call->spread, call->type, i, -1);
  for (int i = 0; i < call->count && gives; ++i) put(call->spread, call->type, i * step, value_of(call, call->root, i));
  MPI_Datatype spread;
  MPI_Type_vector(call->count, 1, step, types[call->type], &spread);
  MPI_Type_commit(&spread);
  MPI_Ibcast(call->spread, 1, spread, call->root, call->comm, request);
  MPI_Type_free(&spread);
  MPI_Type_contiguous(3, MPI_CHAR, &call->after);
  MPI_Type_commit(&call->after);
}

static void begin(Call* call, MPI_Request* request) {
  const int is_root = call->rank == call->root;
  const int in_place = call->in_place && (call->kind == kIallreduce || is_root);
  void* const input = in_place ? (void*)call->output : (void*)call->input;
  if (call->kind == kIbarrier) MPI_Ibarrier(call->comm, request);
  if (call->kind == kIbcast) begin_bcast(call, request);
  if (call->kind != kIreduce && call->kind != kIallreduce) return;
  for (int i = 0; i < call->count; ++i) put(call->output, call->type, i, -1);
  for (int i = 0; i < call->count; ++i) put(input, call->type, i, value_of(call, call->rank, i));
  const void* const from = in_place ? MPI_IN_PLACE : input;
  if (call->kind == kIreduce)
    MPI_Ireduce(from, is_root ? call->output : NULL, call->count, types[call->type], ops[call->op], call->root,
                call->comm, request);
  else
    begin_sum(from, call->output, call->count, types[call->type], ops[call->op], call->comm, request);
}

static void look_at(Call* call) {
  if (call->kind == kIbcast && call->is_spread) MPI_Type_free(&call->after);
  if (call->kind == kIbarrier || (call->kind == kIreduce && call->rank != call->root)) return;
  const int step = call->kind == kIbcast && call->is_spread ? call->rank % 2 + 1 : 1;
  const void* const buffer = call->kind == kIbcast && call->is_spread ? call->spread : call->output;
  for (int i = 0; i < call->count; ++i) {
    const long found = get(buffer, call->type, i * step), right = expected(call, i);
    CHECK(found == right, "kind %d, type %d, operation %d, %d of %d: %ld, not %ld", (int)call->kind, call->type,
          call->op, i, call->count, found, right);
    if (step == 2) CHECK(get(buffer, call->type, i * step + 1) == -1, "a gap was written to");
    if (found != right) return;
  }
}

// Of calls that engines have carried out.
static void look_at_status(const MPI_Status* status) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  CHECK(count == 0 && cancelled == 0, "%d bytes, cancelled %d", count, cancelled);
}

// --- every way to complete requests ------------------------------------------------------------------------------

static void shuffle(int* order, int count) {
  for (int i = 0; i < count; ++i) order[i] = i;
  for (int i = count - 1; i > 0; --i) {
    const int other = own_number(i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static void one_by_one(MPI_Request* requests, int count, int way) {
  int order[kPlaces];
  shuffle(order, count);
  for (int i = 0; i < count; ++i) {
    MPI_Request* const request = &requests[order[i]];
    int done = 0;
    if (way == 0) MPI_Wait(request, MPI_STATUS_IGNORE);
    while (way == 1 && !done) MPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (way == 2 && !done) MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
    if (way == 2) MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void any_of(MPI_Request* requests, int count, int waits) {
  for (;;) {
    int at = 0, done = waits;
    if (waits) MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
    if (!waits) MPI_Testany(count, requests, &at, &done, MPI_STATUS_IGNORE);
    if (done && at == MPI_UNDEFINED) return;
    if (done) CHECK(at >= 0 && at < count, "%d", at);
  }
}

static void some_of(MPI_Request* requests, int count, int waits) {
  int at[kPlaces];
  MPI_Status statuses[kPlaces];
  for (;;) {
    int done = -1;
    if (waits) MPI_Waitsome(count, requests, &done, at, statuses);
    if (!waits) MPI_Testsome(count, requests, &done, at, statuses);
    if (done == MPI_UNDEFINED) return;
    CHECK(done >= waits && done <= count, "%d", done);
  }
}

static void complete(MPI_Request* requests, int count) {
  const int way = own_number(9);
  MPI_Status statuses[kPlaces];
  int done = 0;
  if (way < 3) one_by_one(requests, count, way);
  if (way == 3 || way == 4) any_of(requests, count, way == 3);
  if (way == 5 || way == 6) some_of(requests, count, way == 5);
  if (way == 7) MPI_Waitall(count, requests, own_number(2) ? statuses : MPI_STATUSES_IGNORE);
  while (way == 8 && !done) MPI_Testall(count, requests, &done, statuses);
}

// --- many at a time ----------------------------------------------------------------------------------------------

static Call calls[kMost];

static void block(MPI_Comm comm) {
  long one = 1, all = 0;
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &all, 1, MPI_LONG, MPI_SUM, comm);
  CHECK(all == size, "%ld of %d", all, size);
}

static void round_of_calls(MPI_Comm* comms, int count) {
  MPI_Request requests[kPlaces];
  int sent[kMost], received[kMost], used = 0, messages = 0;
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  for (int i = 0; i < count; ++i) {
    choose(&calls[i], comms[random_number() % 2]);
    const int with_message = random_number() % 4 == 0 && messages < kMost / 2, blocks = random_number() % 8 == 0;
    if (own_number(16) == 0) usleep((useconds_t)own_number(300));
    begin(&calls[i], &requests[used++]);
    if (with_message) {
      sent[messages] = world_rank * 1000 + i;
      received[messages] = -1;
      MPI_Irecv(&received[messages], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[used++]);
      MPI_Isend(&sent[messages], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[used++]);
      ++messages;
    }
    if (blocks) block(comms[random_number() % 2]);
  }
  MPI_Request inactive;
  int nothing = 0;
  MPI_Recv_init(&nothing, 1, MPI_INT, left, 999, MPI_COMM_WORLD, &inactive);
  if (used + 2 <= kPlaces) {
    requests[used++] = MPI_REQUEST_NULL;
    requests[used++] = inactive;
  }
  complete(requests, used);
  MPI_Request_free(&inactive);
  for (int i = 0; i < count; ++i) look_at(&calls[i]);
  for (int i = 0; i < messages; ++i)
    CHECK(received[i] / 1000 == left && received[i] % 1000 == sent[i] % 1000, "%d", received[i]);
}

// --- what goes on meanwhile --------------------------------------------------------------------------------------

// Rank 0 waits for a message that its neighbour sends when all the calls are over there.
static void calls_end_while_a_rank_waits_for_a_message(int count) {
  static long in[kMost][4], out[kMost][4];
  MPI_Request requests[kMost];
  int word = 0;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 4; ++k) in[i][k] = world_rank + i * k;
    begin_sum(in[i], out[i], 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  if (world_rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  if (world_rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 4; ++k)
      CHECK(out[i][k] == (long)world_size * (world_size - 1) / 2 + (long)world_size * i * k, "call %d", i);
}

// Those beyond what engines take begin as others end.
static void more_at_a_time_than_engines_take(void) {
  enum { kMany = 150 };
  static long in[kMany], out[kMany];
  MPI_Request requests[kMany];
  for (int i = 0; i < kMany; ++i) {
    in[i] = world_rank * 3 + i;
    out[i] = -1;
    begin_sum(&in[i], &out[i], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  if (own_number(4) == 0) usleep(2000);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i)
    CHECK(out[i] == 3L * world_size * (world_size - 1) / 2 + (long)world_size * i, "%ld in call %d", out[i], i);
}

// Who gives to a reduction, or gets a broadcast, waits for it long after the root has gone on.
static void roots_do_not_wait_for_others(void) {
  long in = world_rank, out = -1, all = world_rank == 0 ? 77 : -1;
  MPI_Request requests[2];
  int word = 0;
  MPI_Ireduce(&in, &out, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(&all, 1, MPI_LONG, 0, MPI_COMM_WORLD, &requests[1]);
  if (world_rank == 0) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    for (int i = 1; i < world_size; ++i) MPI_Send(&word, 1, MPI_INT, i, 8, MPI_COMM_WORLD);
    CHECK(out == (long)world_size * (world_size - 1) / 2, "%ld", out);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Status status;
    MPI_Wait(&requests[0], &status);
    if (engines) look_at_status(&status);
    MPI_Wait(&requests[1], &status);
    if (engines) look_at_status(&status);
  }
  CHECK(all == 77, "%ld", all);
}

// Open MPI's own crash of it.
static void communicators_go_before_their_calls_are_over(void) {
  MPI_Comm copy;
  MPI_Request request;
  long in = world_rank, out = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  begin_sum(&in, &out, 1, MPI_LONG, MPI_MAX, copy, &request);
  MPI_Comm_free(&copy);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out == world_size - 1 && request == MPI_REQUEST_NULL, "%ld", out);
}

// MPI doesn't allow it, and hocket does not lose the call: this ends when all have their results.
static void freed_requests_are_served(void) {
  volatile long out = -1;
  long in = 1;
  int mine = 0, all = 0;
  MPI_Request request;
  begin_sum(&in, (void*)&out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL, "not the null request");
  for (; !all; MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD)) mine = out == world_size;
}

// What is wrong with a call is the MPI's to say, also while calls of hocket's are under way: those of rank 0 certainly
// are, since the others begin theirs afterwards.
static void bad_counts_are_errors(void) {
  const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};  // by whose handlers, MPIs don't agree
  long in = 1, out = 0;
  int word = 0, flag = 0;
  MPI_Request request;
  if (world_rank != 0) MPI_Recv(&word, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin_sum(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2; ++i) MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
  const int error = MPI_Testall(-1, &request, &flag, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_ARE_FATAL);
  CHECK(error != MPI_SUCCESS, "%d requests are none", -1);
  for (int i = 1; i < world_size && world_rank == 0; ++i) MPI_Send(&word, 1, MPI_INT, i, 11, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(out == world_size, "%ld", out);
}

#include "nonblocking_threads.h"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  start_after_init();
  const MPI_Datatype all_types[kTypes] = {MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE};
  const MPI_Op all_ops[kOps] = {MPI_SUM, MPI_MAX, MPI_MIN};
  memcpy(types, all_types, sizeof types);
  memcpy(ops, all_ops, sizeof ops);
  const int rounds = argc > 1 ? atoi(argv[1]) : 60;
  engines = argc > 2 && strcmp(argv[2], "engines") == 0;
  own_state = random_state + (uint64_t)world_rank * 977;
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[1]);
  for (int i = 0; i < 2; ++i) MPI_Barrier(comms[i]);
  for (int round = 0; round < rounds; ++round) {
    round_of_calls(comms, 1 + (int)(random_number() % kMost));
    if (round % 8 == 0) calls_end_while_a_rank_waits_for_a_message(kMost);
    if (round % 8 == 1) more_at_a_time_than_engines_take();
    if (round % 8 == 3) roots_do_not_wait_for_others();
    if (round % 8 == 5 && engines) communicators_go_before_their_calls_are_over();
    if (round % 8 == 2) bad_counts_are_errors();
    if (round % 8 == 6 && engines) freed_requests_are_served();
  }
  if (provided == MPI_THREAD_MULTIPLE) {
    threads_wait_beside_blocking_calls(rounds);
    threads_each_have_several_calls(rounds);
    for (int i = 0; i < rounds; ++i) threads_each_have_several_calls(2);
  }
  MPI_Comm_free(&comms[1]);
  if (world_rank == 0)
    printf("MPI_Iallreduce: %ld times%s\n", (long)sums, provided == MPI_THREAD_MULTIPLE ? ", by threads" : "");
  return finish("nonblocking");
}
