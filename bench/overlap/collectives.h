// SPDX-License-Identifier: BSD-3-Clause
// The collectives that the programs of this folder measure: blocking, non-blocking and persistent, with what they are
// to move and whether it has arrived.
//
// Bytes are those of the vector of a broadcast or all-reduction (doubles, summed), and of one block of an allgather or
// alltoall.
//
// Thread safety: none.
#pragma once

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../around/ranks.h"

// Open MPI 5 has them, though it says that it is of an earlier version of the standard.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

typedef enum { kBarrier, kBcast, kAllreduce, kAllgather, kAlltoall, kCalls } Call;

static const char* const kCallNames[kCalls] = {"barrier", "bcast", "allreduce", "allgather", "alltoall"};

typedef struct {
  Call call;
  int bytes;
  MPI_Comm comm;
  char *input, *output;  // a broadcast has only its output
} Collective;

static inline size_t input_bytes(const Collective* of) {
  return (size_t)of->bytes * (size_t)(of->call == kAlltoall ? size : 1);
}

static inline size_t output_bytes(const Collective* of) {
  return (size_t)of->bytes * (size_t)(of->call == kAlltoall || of->call == kAllgather ? size : 1);
}

static inline Collective make_collective(Call call, int bytes, MPI_Comm comm) {
  Collective made = {call, bytes, comm, NULL, NULL};
  made.input = calloc(1, input_bytes(&made) + 1);
  made.output = calloc(1, output_bytes(&made) + 1);
  return made;
}

static inline void free_collective(Collective* of) {
  free(of->input);
  free(of->output);
}

// A byte of the block that `from` has for `to`.
static inline char pattern(int from, int to, int at) { return (char)(from * 31 + to * 7 + at); }

static inline void fill(Collective* of, int root) {
  memset(of->output, 0, output_bytes(of));
  const int blocks = of->call == kAlltoall ? size : 1;
  for (int to = 0; to < blocks; ++to)
    for (int i = 0; i < of->bytes; ++i) of->input[(size_t)to * (size_t)of->bytes + (size_t)i] = pattern(rank, to, i);
  for (int i = 0; of->call == kAllreduce && i < of->bytes / 8; ++i) ((double*)of->input)[i] = rank + i % 100;
  for (int i = 0; of->call == kBcast && rank == root && i < of->bytes; ++i) of->output[i] = pattern(root, 0, i);
}

static inline int is_right(const Collective* of, int root) {
  if (of->call == kAllreduce) {
    for (int i = 0; i < of->bytes / 8; ++i)
      if (((double*)of->output)[i] != 0.5 * size * (size - 1) + (double)size * (i % 100)) return 0;
    return 1;
  }
  const int blocks = of->call == kBarrier ? 0 : of->call == kBcast ? 1 : size;
  for (int block = 0; block < blocks; ++block)
    for (int i = 0; i < of->bytes; ++i) {
      const char want = of->call == kBcast ? pattern(root, 0, i) : pattern(block, of->call == kAlltoall ? rank : 0, i);
      if (of->output[(size_t)block * (size_t)of->bytes + (size_t)i] != want) return 0;
    }
  return 1;
}

static inline void call_blocking(const Collective* of, int root) {
  const int n = of->bytes;
  switch (of->call) {
    case kBarrier:
      MPI_Barrier(of->comm);
      break;
    case kBcast:
      MPI_Bcast(of->output, n, MPI_BYTE, root, of->comm);
      break;
    case kAllreduce:
      MPI_Allreduce(of->input, of->output, n / 8, MPI_DOUBLE, MPI_SUM, of->comm);
      break;
    case kAllgather:
      MPI_Allgather(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm);
      break;
    default:
      MPI_Alltoall(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm);
      break;
  }
}

static inline void begin_call(const Collective* of, int root, MPI_Request* request) {
  const int n = of->bytes;
  switch (of->call) {
    case kBarrier:
      MPI_Ibarrier(of->comm, request);
      break;
    case kBcast:
      MPI_Ibcast(of->output, n, MPI_BYTE, root, of->comm, request);
      break;
    case kAllreduce:
      MPI_Iallreduce(of->input, of->output, n / 8, MPI_DOUBLE, MPI_SUM, of->comm, request);
      break;
    case kAllgather:
      MPI_Iallgather(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm, request);
      break;
    default:
      MPI_Ialltoall(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm, request);
      break;
  }
}

#if HAS_PERSISTENT
static inline void plan_call(const Collective* of, int root, MPI_Request* request) {
  const int n = of->bytes;
  const MPI_Info info = MPI_INFO_NULL;
  switch (of->call) {
    case kBarrier:
      MPI_Barrier_init(of->comm, info, request);
      break;
    case kBcast:
      MPI_Bcast_init(of->output, n, MPI_BYTE, root, of->comm, info, request);
      break;
    case kAllreduce:
      MPI_Allreduce_init(of->input, of->output, n / 8, MPI_DOUBLE, MPI_SUM, of->comm, info, request);
      break;
    case kAllgather:
      MPI_Allgather_init(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm, info, request);
      break;
    default:
      MPI_Alltoall_init(of->input, n, MPI_BYTE, of->output, n, MPI_BYTE, of->comm, info, request);
      break;
  }
}
#endif
