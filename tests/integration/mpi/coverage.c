// SPDX-License-Identifier: BSD-3-Clause
// Calls each collective of MPI once, in each of its forms, and says which; coverage_test.py compares what became of
// them with what `hocket info --coverage` promises. Two ranks or one.
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum { kRanks = 2 };  // at most, and as many neighbours, on a ring

static int rank = 0, size = 0;
static int in[kRanks] = {1, 2}, out[kRanks];
static const int ones[kRanks] = {1, 1}, places[kRanks] = {0, 1};
static const int bytes[kRanks] = {0, sizeof(int)};  // displacements of MPI_Alltoallw
static const MPI_Aint far_bytes[kRanks] = {0, sizeof(int)};
static MPI_Datatype types[kRanks];

static void say(const char* name) {
  if (rank == 0) printf("called MPI_%s\n", name);
}

static void end(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

// The blocking, the non-blocking and the persistent function, with the arguments that they have in common.
#define CALL(name, ...) (say(#name), MPI_##name(__VA_ARGS__))
#define BEGIN(name, ...) (say(#name), MPI_##name(__VA_ARGS__, &request), end(&request))
#ifdef HAS_PERSISTENT
#define KEEP(name, ...)                               \
  do {                                                \
    say(#name);                                       \
    MPI_##name(__VA_ARGS__, MPI_INFO_NULL, &request); \
    MPI_Start(&request);                              \
    end(&request);                                    \
    MPI_Request_free(&request);                       \
  } while (0)
#else
#define KEEP(name, ...) (void)0
#endif
#define ALL(blocking, started, persistent, ...) \
  do {                                          \
    MPI_Request request;                        \
    CALL(blocking, __VA_ARGS__);                \
    BEGIN(started, __VA_ARGS__);                \
    KEEP(persistent, __VA_ARGS__);              \
  } while (0)

static void move(MPI_Comm comm) {
  ALL(Barrier, Ibarrier, Barrier_init, comm);
  ALL(Bcast, Ibcast, Bcast_init, out, 1, MPI_INT, 0, comm);
  ALL(Gather, Igather, Gather_init, in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
  ALL(Gatherv, Igatherv, Gatherv_init, in, 1, MPI_INT, out, ones, places, MPI_INT, 0, comm);
  ALL(Scatter, Iscatter, Scatter_init, in, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
  ALL(Scatterv, Iscatterv, Scatterv_init, in, ones, places, MPI_INT, out, 1, MPI_INT, 0, comm);
  ALL(Allgather, Iallgather, Allgather_init, in, 1, MPI_INT, out, 1, MPI_INT, comm);
  ALL(Allgatherv, Iallgatherv, Allgatherv_init, in, 1, MPI_INT, out, ones, places, MPI_INT, comm);
  ALL(Alltoall, Ialltoall, Alltoall_init, in, 1, MPI_INT, out, 1, MPI_INT, comm);
  ALL(Alltoallv, Ialltoallv, Alltoallv_init, in, ones, places, MPI_INT, out, ones, places, MPI_INT, comm);
  ALL(Alltoallw, Ialltoallw, Alltoallw_init, in, ones, bytes, types, out, ones, bytes, types, comm);
}

static void combine(MPI_Comm comm) {
  ALL(Reduce, Ireduce, Reduce_init, in, out, 1, MPI_INT, MPI_SUM, 0, comm);
  ALL(Allreduce, Iallreduce, Allreduce_init, in, out, 1, MPI_INT, MPI_SUM, comm);
  ALL(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, in, out, 1, MPI_INT, MPI_SUM, comm);
  ALL(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, in, out, ones, MPI_INT, MPI_SUM, comm);
  ALL(Scan, Iscan, Scan_init, in, out, 1, MPI_INT, MPI_SUM, comm);
  ALL(Exscan, Iexscan, Exscan_init, in, out, 1, MPI_INT, MPI_SUM, comm);
  CALL(Reduce_local, in, out, 1, MPI_INT, MPI_SUM);
}

// On a ring of two either rank is the other's neighbour in both directions, on one of a single rank its own.
static void move_among_neighbours(void) {
  const int wraps = 1;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wraps, 0, &comm);
  MPI_Barrier(comm);
  ALL(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, in, 1, MPI_INT, out, 1, MPI_INT, comm);
  ALL(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, in, 1, MPI_INT, out, ones, places, MPI_INT,
      comm);
  ALL(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, in, 1, MPI_INT, out, 1, MPI_INT, comm);
  ALL(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, in, ones, places, MPI_INT, out, ones, places,
      MPI_INT, comm);
  ALL(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, in, ones, far_bytes, types, out, ones,
      far_bytes, types, comm);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 0; i < kRanks; ++i) types[i] = MPI_INT;
  MPI_Barrier(MPI_COMM_WORLD);
  move(MPI_COMM_WORLD);
  combine(MPI_COMM_WORLD);
  move_among_neighbours();
  if (rank == 0) printf("coverage: passed\n");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
