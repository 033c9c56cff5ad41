// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move blocks: on each rank other layouts of the same signature, counts that differ from rank to
// rank and are 0 now and then, blocks in any order with gaps between them, in place and not. What lies between the
// elements must stay as it was. What should arrive is computed here, as not every MPI can do all of this.
#include "check.h"

enum { kMaxRanks = 16, kUnitInts = 12, kLayouts = 6, kMargin = 4096 };

enum Collective { kGather, kGatherv, kScatter, kScatterv, kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw };
enum { kCollectives = kAlltoallw + 1 };
static const char* const names[kCollectives] = {"gather",     "gatherv",  "scatter",   "scatterv", "allgather",
                                                "allgatherv", "alltoall", "alltoallv", "alltoallw"};

// Elements of each type that make up a unit, whose signature is always the same twelve ints.
static MPI_Datatype types[kLayouts];
static const int per_unit[kLayouts] = {12, 1, 1, 2, 4, 4};
static int extents[kLayouts];

static void make_types(void) {
  const int back_to_front[3] = {2, 1, 0};
  MPI_Datatype three;
  types[0] = MPI_INT;
  MPI_Type_contiguous(kUnitInts, MPI_INT, &types[1]);
  MPI_Type_vector(3, 4, 6, MPI_INT, &types[2]);
  MPI_Type_vector(2, 3, 5, MPI_INT, &types[3]);
  MPI_Type_create_indexed_block(3, 1, back_to_front, MPI_INT, &types[4]);
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_create_resized(three, -4, 5 * (MPI_Aint)sizeof(int), &types[5]);
  for (int i = 1; i < kLayouts; ++i) MPI_Type_commit(&types[i]);
  MPI_Type_free(&three);
  for (int i = 0; i < kLayouts; ++i) {
    MPI_Aint lb, extent;
    MPI_Type_get_extent(types[i], &lb, &extent);
    extents[i] = (int)extent;
  }
}

// What one rank passes for one side; uniform collectives use the first place.
typedef struct Side {
  void* buffer;
  int counts[kMaxRanks], places[kMaxRanks];
  MPI_Datatype types[kMaxRanks];
  size_t bytes;
} Side;

static int call(enum Collective which, const Side* s, const Side* r, int root, MPI_Comm comm) {
  const void* in = s->buffer;
  void* out = r->buffer;
  const int sent = s->counts[0], received = r->counts[0];
  const MPI_Datatype from = s->types[0], to = r->types[0];
  switch (which) {
    case kGather:
      return MPI_Gather(in, sent, from, out, received, to, root, comm);
    case kGatherv:
      return MPI_Gatherv(in, sent, from, out, r->counts, r->places, to, root, comm);
    case kScatter:
      return MPI_Scatter(in, sent, from, out, received, to, root, comm);
    case kScatterv:
      return MPI_Scatterv(in, s->counts, s->places, from, out, received, to, root, comm);
    case kAllgather:
      return MPI_Allgather(in, sent, from, out, received, to, comm);
    case kAllgatherv:
      return MPI_Allgatherv(in, sent, from, out, r->counts, r->places, to, comm);
    case kAlltoall:
      return MPI_Alltoall(in, sent, from, out, received, to, comm);
    case kAlltoallv:
      return MPI_Alltoallv(in, s->counts, s->places, from, out, r->counts, r->places, to, comm);
    case kAlltoallw:
      return MPI_Alltoallw(in, s->counts, s->places, s->types, out, r->counts, r->places, r->types, comm);
  }
  return -1;
}

#if !defined(OPEN_MPI) && MPI_VERSION >= 4
static int call_wide(enum Collective which, const Side* s, const Side* r, int root, MPI_Comm comm) {
  const void* in = s->buffer;
  void* out = r->buffer;
  MPI_Count sent[kMaxRanks], received[kMaxRanks];
  MPI_Aint from_places[kMaxRanks], to_places[kMaxRanks];
  for (int i = 0; i < kMaxRanks; ++i) {
    sent[i] = s->counts[i], received[i] = r->counts[i], from_places[i] = s->places[i], to_places[i] = r->places[i];
  }
  const MPI_Datatype from = s->types[0], to = r->types[0];
  switch (which) {
    case kGather:
      return MPI_Gather_c(in, sent[0], from, out, received[0], to, root, comm);
    case kGatherv:
      return MPI_Gatherv_c(in, sent[0], from, out, received, to_places, to, root, comm);
    case kScatter:
      return MPI_Scatter_c(in, sent[0], from, out, received[0], to, root, comm);
    case kScatterv:
      return MPI_Scatterv_c(in, sent, from_places, from, out, received[0], to, root, comm);
    case kAllgather:
      return MPI_Allgather_c(in, sent[0], from, out, received[0], to, comm);
    case kAllgatherv:
      return MPI_Allgatherv_c(in, sent[0], from, out, received, to_places, to, comm);
    case kAlltoall:
      return MPI_Alltoall_c(in, sent[0], from, out, received[0], to, comm);
    case kAlltoallv:
      return MPI_Alltoallv_c(in, sent, from_places, from, out, received, to_places, to, comm);
    case kAlltoallw:
      return MPI_Alltoallw_c(in, sent, from_places, s->types, out, received, to_places, r->types, comm);
  }
  return -1;
}
#else
static int call_wide(enum Collective which, const Side* s, const Side* r, int root, MPI_Comm comm) {
  return call(which, s, r, root, comm);
}
#endif

static int is_vector(enum Collective which) {
  return which == kGatherv || which == kScatterv || which == kAllgatherv || which >= kAlltoallv;
}
static int has_root(enum Collective which) { return which <= kScatterv; }
static int sends_all(enum Collective which) { return which == kScatter || which == kScatterv || which >= kAlltoall; }
static int receives_all(enum Collective which) { return which != kScatter && which != kScatterv; }

// Lays `units[i]` units for each of `blocks` blocks out: from a random one on, every third block of the rest first, so
// that they lie in no order, with some room between them. `in_bytes`: places are in bytes, each block has its own type.
static void lay_out(Side* side, int blocks, const int* units, int uniform, int in_bytes, int layout) {
  const int extent = extents[layout];
  size_t at = kMargin;
  int order[kMaxRanks], placed = 0;
  const int first = (int)(random_number() % (unsigned)blocks);
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < blocks; j += 3, ++placed) order[placed] = uniform ? placed : (j + first) % blocks;
  }
  for (int i = 0; i < blocks; ++i) {
    const int block = order[i], mine = in_bytes ? (layout + block) % kLayouts : layout;
    side->types[block] = types[mine];
    side->counts[block] = units[block] * per_unit[mine];
    side->places[block] = in_bytes ? (int)at : (int)(at / (size_t)extent);
    if (!uniform && !in_bytes) at = (size_t)side->places[block] * (size_t)extent;
    at += (size_t)side->counts[block] * (size_t)extents[mine];
    if (!uniform) at += (size_t)(i % 3) * (in_bytes ? 8 : (size_t)extent);
  }
  side->bytes = at + 2 * kMargin;
  side->buffer = malloc(side->bytes);
}

// The pointer that the call gets is in the middle of the blocks, and some displacements are negative.
static void shift(Side* side, int blocks, int in_bytes, int layout, int uniform) {
  if (uniform) {
    side->buffer = (char*)side->buffer + kMargin;
    return;
  }
  const int by = side->places[blocks / 2];
  for (int i = 0; i < blocks; ++i) side->places[i] -= by;
  side->buffer = (char*)side->buffer + (size_t)by * (size_t)(in_bytes ? 1 : extents[layout]);
}

typedef struct Case {
  enum Collective which;
  int root, in_place, wide, units[kMaxRanks][kMaxRanks], send_layout, receive_layout;
} Case;

static void draw(Case* c, int round, int size, int rank) {
  c->which = (enum Collective)(round % kCollectives);
  c->root = (int)(random_number() % (unsigned)size);
  c->in_place = random_number() % 4 == 0;
  c->wide = random_number() % 2 == 0;
  const unsigned most = random_number() % 8 == 0 ? 1500 : 4;
  const int alike = (int)(random_number() % (most + 1));
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) c->units[i][j] = is_vector(c->which) ? (int)(random_number() % (most + 1)) : alike;
  }
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      // In place what comes takes the room of what goes; elsewhere a rank has one block, whoever asks for it.
      if (c->in_place && sends_all(c->which) && receives_all(c->which) && j < i) c->units[i][j] = c->units[j][i];
      if (!sends_all(c->which)) c->units[i][j] = c->units[i][0];
      if (!receives_all(c->which)) c->units[i][j] = c->units[0][j];
    }
  }
  const unsigned layouts = random_number() % 2 == 0 ? kLayouts : 2;  // often all of them dense
  for (int i = 0; i < size; ++i) {
    const unsigned a = (unsigned)(random_number() % layouts), b = (unsigned)(random_number() % layouts);
    if (i == rank) c->send_layout = (int)a, c->receive_layout = (int)b;
  }
}

// The ints that rank `from` has for rank `to`, in the block's place.
static void put(const Side* side, int block, int uniform, int in_bytes, int layout, int from, int to, int units) {
  const int bytes = units * kUnitInts * (int)sizeof(int);
  const MPI_Aint extent = in_bytes ? 1 : extents[layout];
  const MPI_Aint place = uniform ? (MPI_Aint)block * side->counts[0] : side->places[block];
  int* values = malloc((size_t)bytes + 1);
  for (int i = 0; i < units * kUnitInts; ++i) values[i] = from * 1000003 + to * 7919 + i;
  const int mine = in_bytes ? (layout + block) % kLayouts : layout;
  int position = 0;
  MPI_Unpack(values, bytes, &position, (char*)side->buffer + place * extent, units * per_unit[mine], types[mine],
             MPI_COMM_SELF);
  free(values);
}

static void report(const Case* c, int round, int size, const char* side, const char* memory, const char* right,
                   size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    if (memory[i] == right[i]) continue;
    CHECK(0, "round %d: %s, %d ranks, root %d, in place %d, layouts %d %d: byte %zu of %zu %s", round, names[c->which],
          size, c->root, c->in_place, c->send_layout, c->receive_layout, i, bytes, side);
    return;
  }
}

static void try_case(const Case* c, int round, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int typed = c->which == kAlltoallw, all_out = sends_all(c->which), all_in = receives_all(c->which);
  const int send_alike = !is_vector(c->which) || !all_out, receive_alike = !is_vector(c->which) || !all_in;
  const int is_root = !has_root(c->which) || rank == c->root;
  const int sent_blocks = all_out ? size : 1, received_blocks = all_in ? size : 1;
  const int sends = !all_out || is_root, receives = !all_in || is_root;
  const int in_place = c->in_place && is_root;
  Side send, receive;
  int incoming[kMaxRanks];
  for (int i = 0; i < size; ++i) incoming[i] = c->units[all_in ? i : c->root][rank];
  const int* outgoing = all_out ? c->units[rank] : &c->units[rank][c->root];
  lay_out(&send, sent_blocks, outgoing, send_alike, typed, c->send_layout);
  lay_out(&receive, received_blocks, incoming, receive_alike, typed, c->receive_layout);
  char *const from = send.buffer, *const to = receive.buffer;
  if (random_number() % 2 == 0 || send_alike) shift(&send, sent_blocks, typed, c->send_layout, send_alike);
  if (random_number() % 2 == 0 || receive_alike) {
    shift(&receive, received_blocks, typed, c->receive_layout, receive_alike);
  }
  Side right = receive;
  char* const expected = malloc(receive.bytes);
  right.buffer = expected + ((char*)receive.buffer - to);
  memset(from, 0x55, send.bytes);
  for (size_t i = 0; i < receive.bytes; ++i) to[i] = expected[i] = (char)(i * 7 + (size_t)rank);
  for (int i = 0; i < sent_blocks && sends; ++i) {
    put(&send, i, send_alike, typed, c->send_layout, rank, all_out ? i : 0, outgoing[i]);
  }
  for (int i = 0; i < received_blocks && receives; ++i) {
    const int source = all_in ? i : c->root, target = all_out ? rank : 0;
    if (!in_place || all_in) {
      put(&right, i, receive_alike, typed, c->receive_layout, source, target, incoming[i]);
    }
    // In place the block, or in an exchange all that goes out, lies where it comes in.
    if (in_place && all_in && (all_out || source == rank)) {
      put(&receive, i, receive_alike, typed, c->receive_layout, rank, all_out ? i : 0, incoming[i]);
    }
  }
  if (in_place) *(all_in ? &send.buffer : &receive.buffer) = MPI_IN_PLACE;
  const int code =
      c->wide ? call_wide(c->which, &send, &receive, c->root, comm) : call(c->which, &send, &receive, c->root, comm);
  CHECK(code == MPI_SUCCESS, "%s returned %d", names[c->which], code);
  report(c, round, size, "received", to, expected, receive.bytes);
  free(from);
  free(to);
  free(expected);
}

static void compare(MPI_Comm comm, int rounds) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < rounds; ++round) {
    Case c;
    draw(&c, round, size, rank);
    const uint64_t state = random_state;
    random_state += (uint64_t)world_rank * 2;
    try_case(&c, round, comm);
    random_state = state;
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  make_types();
  set_up(MPI_COMM_WORLD);
  compare(MPI_COMM_WORLD, 900);
  compare(MPI_COMM_SELF, 180);
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &turned);
  set_up(turned);
  compare(turned, 90);
  MPI_Comm_free(&turned);
  for (int i = 1; i < kLayouts; ++i) MPI_Type_free(&types[i]);
  return finish("movement");
}
