// SPDX-License-Identifier: BSD-3-Clause
// Collectives among neighbours in all three forms, on grids and graphs, of all ranks and of one, with and without gaps
// in the types: what hocket brings is what the MPI brings for the same arguments in the same process.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#endif

enum { kMost = 16, kElements = 5, kBytes = 4096 };
static int (*set_enabled)(int);

// A communicator with a topology, and how many neighbours a rank has in it.
struct graph {
  MPI_Comm comm;
  int sources, destinations;
  // Whether neighbours occur several times, whose blocks MPIs put in different orders.
  int repeats;
};

static void fill(unsigned char* bytes, int salt) {
  for (int i = 0; i < kBytes; ++i) bytes[i] = (unsigned char)(world_rank * 31 + i * 7 + salt);
}

// One call on both sides' buffers; `form`: blocking, started, persistent (two starts).
struct exchange {
  int which, form, gaps;
  const struct graph* graph;
};

static MPI_Datatype with_gaps;

static int call(const struct exchange* one, const void* in, void* out) {
  const struct graph* graph = one->graph;
  MPI_Datatype type = one->gaps ? with_gaps : MPI_INT;
  int counts[kMost], places[kMost];
  MPI_Aint distances[kMost];
  MPI_Datatype types[kMost];
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  for (int i = 0; i < kMost; ++i) {
    counts[i] = 2;
    places[i] = (kMost - 1 - i) * 3;
    distances[i] = places[i] * extent;
    types[i] = type;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Comm comm = graph->comm;
#define FORMS(lower_name, ...)                                                   \
  if (one->form == 0) return MPI_Neighbor_##lower_name(__VA_ARGS__, comm);       \
  if (one->form == 1) {                                                          \
    const int error = MPI_Ineighbor_##lower_name(__VA_ARGS__, comm, &request);   \
    return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE); \
  }                                                                              \
  INITIALISED(lower_name, __VA_ARGS__)
#ifdef HAS_PERSISTENT
#define INITIALISED(lower_name, ...)                                                          \
  {                                                                                           \
    int error = MPI_Neighbor_##lower_name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
    for (int i = 0; i < 2 && error == MPI_SUCCESS; ++i) {                                     \
      error = MPI_Start(&request);                                                            \
      if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);                \
    }                                                                                         \
    MPI_Request_free(&request);                                                               \
    return error;                                                                             \
  }
  enum { kForms = 3 };
#else
#define INITIALISED(...)
  enum { kForms = 2 };
#endif
  (void)kForms;
  switch (one->which) {
    case 0:
      FORMS(allgather, in, 2, type, out, 2, type)
      break;
    case 1:
      FORMS(allgatherv, in, 2, type, out, counts, places, type)
      break;
    case 2:
      FORMS(alltoall, in, 2, type, out, 2, type)
      break;
    case 3:
      FORMS(alltoallv, in, counts, places, type, out, counts, places, type)
      break;
    default:
      FORMS(alltoallw, in, counts, distances, types, out, counts, distances, types)
      break;
  }
  return MPI_SUCCESS;
}

static void compare(const struct graph* graph, const char* name) {
  static unsigned char in[kBytes], by_mpi[kBytes], by_hocket[kBytes];
  for (int which = 0; which < 5; ++which) {
    for (int form = 0; form < 3; ++form) {
      for (int gaps = 0; gaps < 2; ++gaps) {
        const struct exchange one = {which, form, gaps, graph};
        const struct exchange blocking = {which, 0, gaps, graph};
        fill(in, which);
        fill(by_mpi, 77);
        fill(by_hocket, 77);
        if (set_enabled != NULL) set_enabled(0);
        CHECK(call(&blocking, in, by_mpi) == MPI_SUCCESS, "%s %d by the MPI", name, which);
        if (set_enabled != NULL) set_enabled(1);
        MPI_Barrier(graph->comm);
#ifndef HAS_PERSISTENT
        if (form == 2) continue;
#endif
        CHECK(call(&one, in, by_hocket) == MPI_SUCCESS, "%s %d in form %d", name, which, form);
        int at = 0;
        while (at < kBytes && by_mpi[at] == by_hocket[at]) ++at;
        CHECK(graph->repeats || at == kBytes, "%s: call %d, form %d, gaps %d: byte %d is %d instead of %d", name, which,
              form, gaps, at, by_hocket[at % kBytes], by_mpi[at % kBytes]);
      }
    }
  }
}

static void on_grid(int dimensions, int periodic) {
  int lengths[3] = {0, 0, 0};
  const int periods[3] = {periodic, periodic, periodic};
  MPI_Dims_create(world_size, dimensions, lengths);
  struct graph graph = {MPI_COMM_NULL, 2 * dimensions, 2 * dimensions, 0};
  for (int d = 0; d < dimensions; ++d)
    if (periodic && lengths[d] <= 2) graph.repeats = 1;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, lengths, periods, 0, &graph.comm);
  MPI_Barrier(graph.comm);
  compare(&graph, periodic ? "a periodic grid" : "a grid");
  MPI_Comm_free(&graph.comm);
}

// Each rank gives to the next ones, fewer the higher its number is, and gets from whoever gives to it.
static void on_distributed_graph(void) {
  int sources[kMost], destinations[kMost], n_sources = 0, n_destinations = 0;
  for (int from = 0; from < world_size; ++from) {
    const int given = (world_size - from) % 4;
    for (int k = 0; k < given && k < world_size; ++k) {
      const int to = (from + k) % world_size;
      if (from == world_rank) destinations[n_destinations++] = to;
      if (to == world_rank) sources[n_sources++] = from;
    }
  }
  struct graph graph = {MPI_COMM_NULL, n_sources, n_destinations, 0};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_sources, sources, MPI_UNWEIGHTED, n_destinations, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph.comm);
  MPI_Barrier(graph.comm);
  compare(&graph, "a distributed graph");
  MPI_Comm_free(&graph.comm);
}

static void on_graph(void) {
  int index[kMost], edges[2 * kMost], used = 0;
  for (int rank = 0; rank < world_size; ++rank) {
    if (rank > 0) edges[used++] = rank - 1;
    if (rank + 1 < world_size) edges[used++] = rank + 1;
    index[rank] = used;
  }
  struct graph graph = {MPI_COMM_NULL, 2, 2, 0};
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &graph.comm);
  MPI_Barrier(graph.comm);
  compare(&graph, "a graph");
  MPI_Comm_free(&graph.comm);
}

// Of one rank, several times its own neighbour: the k-th block of a graph comes as the k-th, and what goes down in a
// grid comes from above, whatever an MPI makes of it.
static void look_at_own_blocks(const struct graph* graph, int is_grid) {
  const MPI_Comm comm = graph->comm;
  int in[6], out[6];
  for (int form = 0; form < 3; ++form) {
    for (int i = 0; i < 6; ++i) {
      in[i] = 10 * form + i;
      out[i] = -1;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == 0) MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    if (form == 1) MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm, &request);
#ifdef HAS_PERSISTENT
    if (form == 2) {
      MPI_Neighbor_alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
      MPI_Start(&request);
    }
#else
    if (form == 2) continue;
#endif
    if (form != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == 2) MPI_Request_free(&request);
    for (int i = 0; i < 6; ++i) {
      const int right = i < graph->sources ? in[i ^ is_grid] : -1;
      CHECK(out[i] == right, "one rank, grid %d: form %d, block %d is %d, not %d", is_grid, form, i, out[i], right);
    }
  }
}

static void alone(void) {
  const int ones[3] = {1, 1, 1}, wraps[3] = {1, 1, 1}, ends[3] = {0, 0, 0};
  const int self[3] = {0, 0, 0}, edges = 3;
  for (int dimensions = 0; dimensions <= 3; ++dimensions) {
    struct graph graph = {MPI_COMM_NULL, 2 * dimensions, 2 * dimensions, 1};
    MPI_Cart_create(MPI_COMM_SELF, dimensions, ones, wraps, 0, &graph.comm);
    if (dimensions != 0) compare(&graph, "a periodic grid of one rank");
    if (set_enabled != NULL) look_at_own_blocks(&graph, 1);
    MPI_Comm_free(&graph.comm);
    graph.repeats = 0;
    MPI_Cart_create(MPI_COMM_SELF, dimensions, ones, ends, 0, &graph.comm);
    if (dimensions != 0) compare(&graph, "a grid of one rank");
    MPI_Comm_free(&graph.comm);
  }
  for (int degree = 0; degree <= 3; ++degree) {
    struct graph graph = {MPI_COMM_NULL, degree, degree, degree > 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, degree, self, MPI_UNWEIGHTED, degree, self, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph.comm);
    compare(&graph, "a distributed graph of one rank");
    if (set_enabled != NULL) look_at_own_blocks(&graph, 0);
    MPI_Comm_free(&graph.comm);
  }
  struct graph graph = {MPI_COMM_NULL, edges, edges, 1};
  MPI_Graph_create(MPI_COMM_SELF, 1, &edges, self, 0, &graph.comm);
  compare(&graph, "a graph of one rank");
  if (set_enabled != NULL) look_at_own_blocks(&graph, 0);
  MPI_Comm_free(&graph.comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start_after_init();
  set_enabled = (int (*)(int))dlsym(RTLD_DEFAULT, "hocket_mpi_set_enabled");
  MPI_Type_vector(2, 1, 2, MPI_INT, &with_gaps);
  MPI_Type_commit(&with_gaps);
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int periodic = 0; periodic < 2; ++periodic) on_grid(dimensions, periodic);
  on_distributed_graph();
  on_graph();
  alone();
  MPI_Type_free(&with_gaps);
  return finish("neighbours");
}
