// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent collectives of the tests of requests: started, or made persistent, filled and looked at.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_REQUESTS_H
#define HOCKET_TESTS_INTEGRATION_MPI_REQUESTS_H

#include "check.h"

enum { kMostRanks = 16 };

typedef enum { kBarrier, kBcast, kAllreduce, kAlltoall, kReduceScatter, kGather, kScan, kKinds } Kind;
static const char* const kind_names[] = {"Ibarrier",        "Ibcast",  "Iallreduce", "Ialltoall",
                                         "Ireduce_scatter", "Igather", "Iscan"};

// One collective: `count` longs from each rank, or in each block.
typedef struct {
  Kind kind;
  int root, count, salt;
  const long* input;
  long* output;
  int counts[kMostRanks];  // MPI reads them until the call is over
} Call;

static inline long value_of(int salt, int rank, int at) { return (salt + rank * 31L + at * 7L) % 1000; }

static inline int inputs_of(const Call* call) {
  return call->kind == kAlltoall || call->kind == kReduceScatter ? call->count * world_size : call->count;
}
static inline int outputs_of(const Call* call) {
  if (call->kind == kBarrier || (call->kind == kGather && world_rank != call->root)) return 0;
  return call->kind == kAlltoall || call->kind == kGather ? call->count * world_size : call->count;
}

static inline void clear_output(Call* call) {
  const int gives = call->kind == kBcast && world_rank == call->root, longs = outputs_of(call);
  for (int i = 0; i < longs; ++i) call->output[i] = gives ? value_of(call->salt, call->root, i) : -1;
  for (int i = 0; i < world_size; ++i) call->counts[i] = call->count;
}

static inline int begin(Call* call, MPI_Comm comm, MPI_Request* request) {
  const int count = call->count;
  switch (call->kind) {
    case kBcast:
      return MPI_Ibcast(call->output, count, MPI_LONG, call->root, comm, request);
    case kAllreduce:
      return MPI_Iallreduce(call->input, call->output, count, MPI_LONG, MPI_SUM, comm, request);
    case kAlltoall:
      return MPI_Ialltoall(call->input, count, MPI_LONG, call->output, count, MPI_LONG, comm, request);
    case kReduceScatter:
      return MPI_Ireduce_scatter(call->input, call->output, call->counts, MPI_LONG, MPI_SUM, comm, request);
    case kGather:
      return MPI_Igather(call->input, count, MPI_LONG, call->output, count, MPI_LONG, call->root, comm, request);
    case kScan:
      return MPI_Iscan(call->input, call->output, count, MPI_LONG, MPI_SUM, comm, request);
    default:
      return MPI_Ibarrier(comm, request);
  }
}

// Open MPI has them before it has the rest of MPI 4.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { kHasPersistent = 1 };
static inline int initialise(Call* call, MPI_Comm comm, MPI_Request* request) {
  const int count = call->count;
  const MPI_Info info = MPI_INFO_NULL;
  switch (call->kind) {
    case kBcast:
      return MPI_Bcast_init(call->output, count, MPI_LONG, call->root, comm, info, request);
    case kAllreduce:
      return MPI_Allreduce_init(call->input, call->output, count, MPI_LONG, MPI_SUM, comm, info, request);
    case kAlltoall:
      return MPI_Alltoall_init(call->input, count, MPI_LONG, call->output, count, MPI_LONG, comm, info, request);
    case kReduceScatter:
      return MPI_Reduce_scatter_init(call->input, call->output, call->counts, MPI_LONG, MPI_SUM, comm, info, request);
    case kGather:
      return MPI_Gather_init(call->input, count, MPI_LONG, call->output, count, MPI_LONG, call->root, comm, info,
                             request);
    case kScan:
      return MPI_Scan_init(call->input, call->output, count, MPI_LONG, MPI_SUM, comm, info, request);
    default:
      return MPI_Barrier_init(comm, info, request);
  }
}
#else
enum { kHasPersistent = 0 };
static inline int initialise(Call* call, MPI_Comm comm, MPI_Request* request) { return begin(call, comm, request); }
#endif

static inline long expected(const Call* call, int at) {
  const int rank = at / call->count, place = at % call->count;
  long sum = 0;
  switch (call->kind) {
    case kBcast:
      return value_of(call->salt, call->root, at);
    case kAlltoall:
      return value_of(call->salt, rank, world_rank * call->count + place);
    case kGather:
      return value_of(call->salt, rank, place);
    default:
      break;
  }
  const int first = call->kind == kReduceScatter ? world_rank * call->count : 0;
  const int last_rank = call->kind == kScan ? world_rank : world_size - 1;
  for (int i = 0; i <= last_rank; ++i) sum += value_of(call->salt, i, first + at);
  return sum;
}

// False: it has been reported.
static inline int look_at(const Call* call, const char* where) {
  const int longs = outputs_of(call);
  for (int i = 0; i < longs; ++i) {
    const long right = expected(call, i);
    if (call->output[i] == right) continue;
    CHECK(0, "%s: %ld at %d of %d, not %ld", where, call->output[i], i, longs, right);
    return 0;
  }
  return 1;
}

static inline int is_library(const char* name) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return strstr(version, name) != NULL;
}

// Whether hocket carries out what is started on a communicator of all ranks, up to its number of persistent ones.
static inline int may_be_hockets(void) {
  const char *disabled = getenv("HOCKET_DISABLE"), *progress = getenv("HOCKET_PROGRESS");
  return (disabled == NULL || strcmp(disabled, "1") != 0) && getenv("HOCKET_NODE") == NULL &&
         (progress == NULL || strcmp(progress, "calls") != 0);
}

// MPICH's own MPI_Testall says MPI_ERR_IN_STATUS whenever a persistent collective is among the requests, with no error
// in any status. Where hocket carries these out, it never sees them.
static inline int testall_takes_persistent(void) {
  return may_be_hockets() || !(is_library("MPICH") || is_library("Intel"));
}

#endif
