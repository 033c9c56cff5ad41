// SPDX-License-Identifier: BSD-3-Clause
// All collectives that have buffers, one by one, by the functions of MPI_* as the program calls them or by those of the
// MPI underneath.
#ifndef HOCKET_TESTS_INTEGRATION_MPI_DEVICE_CALLS_H
#define HOCKET_TESTS_INTEGRATION_MPI_DEVICE_CALLS_H

#include "check.h"

// clang-format off
#define EACH_COLLECTIVE(X)                                                                                    \
  X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv)    \
  X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan)
// clang-format on

#define MEMBER(name) __typeof__(&MPI_##name) name;
struct collectives {
  EACH_COLLECTIVE(MEMBER)
};

#define NUMBER(name) k##name,
enum collective { EACH_COLLECTIVE(NUMBER) kCollectives };

enum { kMostRanks = 8 };

// One call. Blocks of the functions with different ones are `count` + i elements long for rank i, in descending order
// and with room in between.
struct call {
  enum collective which;
  int count, root, in_place;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
};

static inline struct collectives own_collectives(void) {
#define OWN(name) MPI_##name,
  const struct collectives all = {EACH_COLLECTIVE(OWN)};
  return all;
}

static inline struct collectives native_collectives(void) {
#define NATIVE(name) (__typeof__(&MPI_##name))native_function("PMPI_" #name),
  const struct collectives all = {EACH_COLLECTIVE(NATIVE)};
  return all;
}

// Elements that a buffer needs, whatever the call.
static inline int elements_of(const struct call* call, int size) { return (call->count + size + 1) * size; }

struct blocks {
  int counts[kMostRanks], places[kMostRanks], bytes[kMostRanks];
  MPI_Datatype types[kMostRanks];
};

// `equal`: of an exchange, in which each rank sends to others what they expect.
static inline struct blocks blocks_of(const struct call* call, int size, int rank, int is_exchange) {
  struct blocks all;
  MPI_Aint lb, extent;
  MPI_Type_get_extent(call->type, &lb, &extent);
  for (int i = 0; i < size; ++i) {
    all.counts[i] = call->count + (is_exchange ? (i + rank) % 3 : i);
    all.places[i] = (size - 1 - i) * (call->count + size + 1) + 1;
    all.bytes[i] = all.places[i] * (int)extent;
    all.types[i] = call->type;
  }
  return all;
}

static inline void make_movement(const struct collectives* mpi, const struct call* call, void* in, void* out) {
  int rank, size;
  MPI_Comm_rank(call->comm, &rank);
  MPI_Comm_size(call->comm, &size);
  const int n = call->count, root = call->root, here = call->in_place, here_root = here && rank == root;
  const MPI_Datatype t = call->type;
  const struct blocks b = blocks_of(call, size, rank, 0), x = blocks_of(call, size, rank, 1);
  void* const from = here ? MPI_IN_PLACE : in;
  void* const from_root = here_root ? MPI_IN_PLACE : in;
  void* const to_root = here_root ? MPI_IN_PLACE : out;
  switch (call->which) {
    case kBcast:
      mpi->Bcast(out, n, t, root, call->comm);
      break;
    case kGather:
      mpi->Gather(from_root, n, t, out, n, t, root, call->comm);
      break;
    case kGatherv:
      mpi->Gatherv(from_root, b.counts[rank], t, out, b.counts, b.places, t, root, call->comm);
      break;
    case kScatter:
      mpi->Scatter(in, n, t, to_root, n, t, root, call->comm);
      break;
    case kScatterv:
      mpi->Scatterv(in, b.counts, b.places, t, to_root, b.counts[rank], t, root, call->comm);
      break;
    case kAllgather:
      mpi->Allgather(from, n, t, out, n, t, call->comm);
      break;
    case kAllgatherv:
      mpi->Allgatherv(from, b.counts[rank], t, out, b.counts, b.places, t, call->comm);
      break;
    case kAlltoall:
      mpi->Alltoall(from, n, t, out, n, t, call->comm);
      break;
    case kAlltoallv:
      mpi->Alltoallv(from, x.counts, x.places, t, out, x.counts, x.places, t, call->comm);
      break;
    default:
      mpi->Alltoallw(from, x.counts, x.bytes, x.types, out, x.counts, x.bytes, x.types, call->comm);
  }
}

static inline void make_reduction(const struct collectives* mpi, const struct call* call, void* in, void* out) {
  int rank, size;
  MPI_Comm_rank(call->comm, &rank);
  MPI_Comm_size(call->comm, &size);
  const int n = call->count, root = call->root;
  const struct blocks b = blocks_of(call, size, rank, 0);
  void* const from = call->in_place ? MPI_IN_PLACE : in;
  switch (call->which) {
    case kReduce:
      mpi->Reduce(rank == root ? from : in, out, n, call->type, call->op, root, call->comm);
      break;
    case kAllreduce:
      mpi->Allreduce(from, out, n, call->type, call->op, call->comm);
      break;
    case kReduce_scatter_block:
      mpi->Reduce_scatter_block(from, out, n, call->type, call->op, call->comm);
      break;
    case kReduce_scatter:
      mpi->Reduce_scatter(from, out, b.counts, call->type, call->op, call->comm);
      break;
    case kScan:
      mpi->Scan(from, out, n, call->type, call->op, call->comm);
      break;
    default:
      mpi->Exscan(from, out, n, call->type, call->op, call->comm);
  }
}

static inline int is_reduction(enum collective which) { return which >= kReduce; }

static inline void make(const struct collectives* mpi, const struct call* call, void* in, void* out) {
  (is_reduction(call->which) ? make_reduction : make_movement)(mpi, call, in, out);
}

#endif
