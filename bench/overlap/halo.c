// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges on periodic grids: by neighbourhood collectives (blocking, non-blocking, persistent), beside messages
// by hand and persistent messages, by turns in one process.
//
//   halo [grids=2,3] [stencils=faces,full] [bytes=8,1024,65536] [blocks=9] [block_ms=3] [cores_each=0]
//
// `faces` is a Cartesian grid with two neighbours a dimension, `full` a graph with all 8 or 26 around. Bytes are those
// of one block to a neighbour. `wrong` counts ranks on which a block was not the one that the standard asks for, where
// a rank is several times its neighbour's neighbour: by hand it never is.
#include "blocks.h"
#include "collectives.h"

enum { kMostNeighbours = 26, kMostLengths = 16, kHands = 2 };

static MPI_Comm comm;
static int neighbours, bytes;
static int sources[kMostNeighbours], targets[kMostNeighbours];
static int index_at_source[kMostNeighbours];  // which of its blocks comes from there
static char *out, *in;
static MPI_Request messages[2][2 * kMostNeighbours];  // persistent ones, made with hocket switched off, and on
#if HAS_PERSISTENT
static MPI_Request exchanges[2];
#endif

static char* block_of(char* blocks, int k) { return blocks + (size_t)k * (size_t)bytes; }

static void blocking(int number) {
  (void)number;
  MPI_Neighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
}

static void begin_wait(int number) {
  (void)number;
  MPI_Request request;
  MPI_Ineighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if HAS_PERSISTENT
static void start_wait(int number) {
  (void)number;
  MPI_Start(&exchanges[mode]);
  MPI_Wait(&exchanges[mode], MPI_STATUS_IGNORE);
}
#endif

static void by_hand(int number) {
  (void)number;
  MPI_Request requests[2 * kMostNeighbours];
  for (int k = 0; k < neighbours; ++k)
    MPI_Irecv(block_of(in, k), bytes, MPI_BYTE, sources[k], index_at_source[k], comm, &requests[k]);
  for (int k = 0; k < neighbours; ++k)
    MPI_Isend(block_of(out, k), bytes, MPI_BYTE, targets[k], k, comm, &requests[neighbours + k]);
  MPI_Waitall(2 * neighbours, requests, MPI_STATUSES_IGNORE);
}

static void by_hand_persistent(int number) {
  (void)number;
  MPI_Startall(2 * neighbours, messages[mode]);
  MPI_Waitall(2 * neighbours, messages[mode], MPI_STATUSES_IGNORE);
}

static const Variant kVariants[] = {
    {"by_hand", by_hand},       {"by_hand_persistent", by_hand_persistent},
    {"blocking", blocking},     {"begin_wait", begin_wait},
#if HAS_PERSISTENT
    {"start_wait", start_wait},
#endif
};
enum { kVariantCount = sizeof kVariants / sizeof *kVariants };

static void make_requests(void) {
  for (int k = 0; k < neighbours; ++k) {
    MPI_Recv_init(block_of(in, k), bytes, MPI_BYTE, sources[k], index_at_source[k], comm, &messages[mode][k]);
    MPI_Send_init(block_of(out, k), bytes, MPI_BYTE, targets[k], k, comm, &messages[mode][neighbours + k]);
  }
#if HAS_PERSISTENT
  MPI_Neighbor_alltoall_init(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm, MPI_INFO_NULL, &exchanges[mode]);
#endif
}

static void free_requests(void) {
  for (int k = 0; k < 2 * neighbours; ++k) MPI_Request_free(&messages[mode][k]);
#if HAS_PERSISTENT
  MPI_Request_free(&exchanges[mode]);
#endif
}

// After one exchange by this variant: whether each block is the right one here.
static int is_exchange_right(const Variant* variant) {
  memset(in, 0, (size_t)neighbours * (size_t)bytes);
  variant->once(0);
  for (int k = 0; k < neighbours; ++k)
    for (int i = 0; i < bytes; ++i)
      if (block_of(in, k)[i] != pattern(sources[k], index_at_source[k], i)) return 0;
  return 1;
}

static void measure_length(const Plan* plan, int grid, const char* stencil) {
  out = malloc((size_t)neighbours * (size_t)bytes);
  in = malloc((size_t)neighbours * (size_t)bytes);
  for (int k = 0; k < neighbours; ++k)
    for (int i = 0; i < bytes; ++i) block_of(out, k)[i] = pattern(rank, k, i);
  int wrong = 0;
  for (int j = 2 - plan->modes; j < 2; ++j) {
    set_mode(j);
    make_requests();
    for (int i = 0; i < kVariantCount; ++i) {
      const int here = !is_exchange_right(&kVariants[i]);
      if (here && i < kHands) MPI_Abort(MPI_COMM_WORLD, 1);
      wrong += here;
    }
  }
  const int is_wrong = agreed_most(wrong) > 0;
  char head[120];
  snprintf(head, sizeof head, "\"call\": \"%d-D %s\", \"bytes\": %d, \"neighbours\": %d, \"wrong\": %d", grid, stencil,
           bytes, neighbours, is_wrong);
  measure(plan, head, kVariants, kVariantCount);
  for (int j = 2 - plan->modes; j < 2; ++j) {
    set_mode(j);
    free_requests();
  }
  free(out);
  free(in);
}

static void make_faces(MPI_Comm cart, int grid) {
  comm = cart;
  neighbours = 2 * grid;
  for (int k = 0; k < neighbours; ++k) {
    int below, above;
    MPI_Cart_shift(cart, k / 2, 1, &below, &above);
    sources[k] = targets[k] = k % 2 == 0 ? below : above;
    index_at_source[k] = k ^ 1;  // what goes down comes from above
  }
}

// All around, each at an offset of -1, 0 or 1 in every dimension: what goes to an offset comes from its opposite.
static void make_full(MPI_Comm cart, int grid) {
  int here[3], each = 1, weights[kMostNeighbours];
  MPI_Cart_coords(cart, rank, grid, here);
  for (int d = 0; d < grid; ++d) each *= 3;
  neighbours = 0;
  for (int offset = 0; offset < each; ++offset) {
    int to[3], from[3], rest = offset;
    if (offset == each / 2) continue;
    for (int d = 0; d < grid; ++d, rest /= 3) {
      to[d] = here[d] + rest % 3 - 1;
      from[d] = here[d] - rest % 3 + 1;
    }
    MPI_Cart_rank(cart, to, &targets[neighbours]);
    MPI_Cart_rank(cart, from, &sources[neighbours]);
    index_at_source[neighbours] = neighbours;
    weights[neighbours] = 1;
    ++neighbours;
  }
  // Not of the grid, whose ranks are the same: Open MPI 5 takes a graph of a grid for a grid.
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, neighbours, sources, weights, neighbours, targets, weights,
                                 MPI_INFO_NULL, 0, &comm);
}

static void measure_grid(const Plan* plan, int grid, const char* stencils, const int* lengths, int count) {
  int dimensions[3] = {0, 0, 0};
  const int periods[3] = {1, 1, 1};
  MPI_Comm cart;
  MPI_Dims_create(size, grid, dimensions);
  MPI_Cart_create(MPI_COMM_WORLD, grid, dimensions, periods, 0, &cart);
  for (int full = 0; full < 2; ++full) {
    if (!is_listed(stencils, full ? "full" : "faces")) continue;
    if (full)
      make_full(cart, grid);
    else
      make_faces(cart, grid);
    MPI_Barrier(comm);  // hocket sets a communicator up in a call in which all ranks wait for each other
    for (int i = 0; i < count; ++i) {
      bytes = lengths[i];
      measure_length(plan, grid, full ? "full" : "faces");
    }
    if (full) MPI_Comm_free(&comm);
  }
  MPI_Comm_free(&cart);
}

int main(int argc, char** argv) {
  const int known = begin_program(argc, argv, "grids,stencils,bytes,blocks,block_ms,switches,cores_each");
  const Plan plan = read_plan(argc, argv);
  const char* const stencils = option(argc, argv, "stencils", "faces,full");
  int lengths[kMostLengths], grids[2];
  const int count = read_numbers(option(argc, argv, "bytes", "8,1024,65536"), lengths, kMostLengths);
  const int grid_count = read_numbers(option(argc, argv, "grids", "2,3"), grids, 2);
  for (int i = 0; known && i < grid_count; ++i)
    if (grids[i] == 2 || grids[i] == 3) measure_grid(&plan, grids[i], stencils, lengths, count);
  MPI_Finalize();
  return known ? 0 : 2;
}
