// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter_block, MPI_Reduce_scatter, MPI_Scan and MPI_Exscan: predefined operations and one of the program's
// own that doesn't commute, on dense elements and such with gaps, in place and not, with parts of any length. What
// should come out each rank computes by itself, as it knows the operands of all.
#include <stddef.h>

#include "check.h"

enum { kMaxRanks = 16, kKinds = 5, kMost = 3000 };

typedef struct Place {
  double value;
  int index;
} Place;

static unsigned mix(int rank, int index) {
  unsigned x = (unsigned)rank * 2654435761u + (unsigned)index * 40503u + 12345u;
  x ^= x >> 15;
  return x * 2246822519u;
}

static void multiply(const unsigned* a, unsigned* b) {  // b = a b
  const unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                         a[2] * b[1] + a[3] * b[3]};
  memcpy(b, c, sizeof c);
}

static void multiply_all(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lb, extent;
  MPI_Type_get_extent(*type, &lb, &extent);
  for (int i = 0; i < *count; ++i)
    multiply((unsigned*)((char*)in + i * extent), (unsigned*)((char*)inout + i * extent));
}

// Sums of int and, apart, of signed char; the places of maxima; products of matrices, dense and with gaps.
typedef struct Kind {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t extent;
} Kind;
static Kind kinds[kKinds];

static void fill(int kind, char* element, int rank, int index) {
  const unsigned x = mix(rank, index);
  if (kind == 0) *(int*)element = (int)x;
  if (kind == 1) *(signed char*)element = (signed char)(x % 7);
  if (kind == 2) {
    Place place;
    memset(&place, 0, sizeof place);
    place.value = x % 3, place.index = rank;
    memcpy(element, &place, sizeof place);
  }
  for (int i = 0; kind >= 3 && i < 4; ++i) ((unsigned*)element)[i] = mix(rank, index * 4 + i);
}

static void combine(int kind, const char* in, char* inout) {
  if (kind == 0) *(unsigned*)inout += *(const unsigned*)in;
  if (kind == 1) *inout += *in;
  if (kind == 2) {
    const Place *a = (const Place*)in, *b = (const Place*)inout;
    if (a->value > b->value || (a->value == b->value && a->index < b->index)) memcpy(inout, in, sizeof *a);
  }
  if (kind >= 3) multiply((const unsigned*)in, (unsigned*)inout);
}

// Element `index` of the operands of ranks 0 to `last`.
static void combine_ranks(int kind, char* result, int last, int index) {
  char left[64] __attribute__((aligned(16)));
  fill(kind, result, last, index);
  for (int rank = last - 1; rank >= 0; --rank) {
    fill(kind, left, rank, index);
    combine(kind, left, result);
  }
}

enum Collective { kBlock, kParts, kScan, kExscan };
static const char* const names[] = {"reduce_scatter_block", "reduce_scatter", "scan", "exscan"};

typedef struct Case {
  enum Collective which;
  int kind, in_place, counts[kMaxRanks];
} Case;

static int call(const Case* c, int wide, const void* in, void* out, MPI_Comm comm) {
  const MPI_Datatype type = kinds[c->kind].type;
  const MPI_Op op = kinds[c->kind].op;
#if !defined(OPEN_MPI) && MPI_VERSION >= 4
  if (wide) {
    MPI_Count counts[kMaxRanks];
    for (int i = 0; i < kMaxRanks; ++i) counts[i] = c->counts[i];
    if (c->which == kBlock) return MPI_Reduce_scatter_block_c(in, out, counts[0], type, op, comm);
    if (c->which == kParts) return MPI_Reduce_scatter_c(in, out, counts, type, op, comm);
    if (c->which == kScan) return MPI_Scan_c(in, out, counts[0], type, op, comm);
    return MPI_Exscan_c(in, out, counts[0], type, op, comm);
  }
#endif
  (void)wide;
  if (c->which == kBlock) return MPI_Reduce_scatter_block(in, out, c->counts[0], type, op, comm);
  if (c->which == kParts) return MPI_Reduce_scatter(in, out, c->counts, type, op, comm);
  if (c->which == kScan) return MPI_Scan(in, out, c->counts[0], type, op, comm);
  return MPI_Exscan(in, out, c->counts[0], type, op, comm);
}

static void try_case(const Case* c, int round, int wide, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int kind = c->kind, scatters = c->which == kBlock || c->which == kParts;
  const size_t extent = kinds[kind].extent;
  int total = 0, before = 0;
  for (int i = 0; i < size; ++i) {
    if (i == rank) before = total;
    total += c->counts[i];
  }
  const int operand = scatters ? total : c->counts[0], result = scatters ? c->counts[rank] : c->counts[0];
  const size_t bytes = ((size_t)operand + 1) * extent;
  char *in = malloc(bytes), *out = malloc(bytes), *right = malloc(bytes);
  const int filler = kind == 2 ? 0 : 0x55;
  memset(in, filler, bytes), memset(out, filler, bytes);
  char* const from = c->in_place ? out : in;
  for (int i = 0; i < operand; ++i) fill(kind, from + (size_t)i * extent, rank, i);
  memcpy(right, out, bytes);
  const int last = scatters ? size - 1 : c->which == kScan ? rank : rank - 1;
  for (int i = 0; i < result && last >= 0; ++i) {
    combine_ranks(kind, right + (size_t)i * extent, last, i + (scatters ? before : 0));
  }
  const int code = call(c, wide, c->in_place ? MPI_IN_PLACE : in, out, comm);
  CHECK(code == MPI_SUCCESS, "%s returned %d", names[c->which], code);
  // The padding of a place may be anything too.
  for (size_t at = offsetof(Place, index) + sizeof(int); kind == 2 && at < bytes; at += extent) {
    memset(out + at, 0, sizeof(Place) - offsetof(Place, index) - sizeof(int));
  }
  // Behind its part the operand of a scatter in place may be anything.
  const size_t compared = c->in_place && scatters ? (size_t)result * extent : bytes;
  for (size_t i = 0; i < compared; ++i) {
    if (out[i] == right[i]) continue;
    CHECK(0, "round %d: %s of %s, %d ranks, in place %d, %d elements: byte %zu of element %zu", round, names[c->which],
          kinds[kind].name, size, c->in_place, operand, i % extent, i / extent);
    break;
  }
  free(in);
  free(out);
  free(right);
}

static void compare(MPI_Comm comm, int rounds) {
  int size;
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < rounds; ++round) {
    Case c = {(enum Collective)(round % 4), (int)(random_number() % kKinds), random_number() % 3 == 0, {0}};
    const unsigned most = random_number() % 6 == 0 ? kMost : 5, differ = c.which == kParts && random_number() % 3 != 0;
    const int count = (int)(random_number() % (most + 1));
    for (int i = 0; i < size; ++i) c.counts[i] = differ ? (int)(random_number() % (most + 1)) : count;
    try_case(&c, round, random_number() % 2 == 0, comm);
  }
}

static void first_rank_of_exscan_needs_no_output(void) {
  int sum = -1, mine = world_rank + 1;
  MPI_Exscan(&mine, world_rank == 0 ? NULL : &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == (world_rank == 0 ? -1 : world_rank * (world_rank + 1) / 2), "sum %d", sum);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  MPI_Op product;
  MPI_Op_create(multiply_all, 0, &product);
  MPI_Datatype matrix, wide;
  MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
  MPI_Type_create_resized(matrix, 0, 6 * sizeof(unsigned), &wide);
  MPI_Type_commit(&matrix);
  MPI_Type_commit(&wide);
  const Kind all[kKinds] = {{"int", MPI_INT, MPI_SUM, sizeof(int)},
                            {"signed char", MPI_SIGNED_CHAR, MPI_SUM, 1},
                            {"place", MPI_DOUBLE_INT, MPI_MAXLOC, sizeof(Place)},
                            {"matrix", matrix, product, 4 * sizeof(unsigned)},
                            {"matrix with a gap", wide, product, 6 * sizeof(unsigned)}};
  memcpy(kinds, all, sizeof all);
  first_rank_of_exscan_needs_no_output();
  compare(MPI_COMM_WORLD, 400);
  compare(MPI_COMM_SELF, 80);
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &turned);
  compare(turned, 80);
  MPI_Comm_free(&turned);
  MPI_Type_free(&matrix);
  MPI_Type_free(&wide);
  MPI_Op_free(&product);
  return finish("combining");
}
