// SPDX-License-Identifier: BSD-3-Clause
// What is cut into pieces. Broadcasts: each rank with another layout of the same bytes, elements that are shorter and
// longer than a piece, lengths around the places where they are cut. Reductions by an operation of the program's own.
#include "check.h"

enum { kMiB = 1 << 20, kLayouts = 4 };

// Dense; runs of 1000 bytes with gaps, which no piece is a multiple of; the whole message as one element; the same in
// two halves back to front.
static MPI_Datatype layout(int which, int bytes, int* count) {
  MPI_Datatype part, type;
  *count = 1;
  if (which == 0) {
    *count = bytes;
    return MPI_BYTE;
  }
  if (which == 1) {
    MPI_Type_contiguous(1000, MPI_BYTE, &part);
    MPI_Type_create_resized(part, 0, 1100, &type);
    MPI_Type_free(&part);
    *count = bytes / 1000;
  }
  if (which == 2) MPI_Type_vector(bytes / 500, 500, 600, MPI_BYTE, &type);
  if (which == 3) {
    const int lengths[2] = {bytes / 2, bytes / 2}, places[2] = {bytes / 2 + 64, 0};
    MPI_Type_indexed(2, lengths, places, MPI_BYTE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

// Where byte `i` of the message lies.
static size_t place(int which, size_t bytes, size_t i) {
  if (which == 1) return i / 1000 * 1100 + i % 1000;
  if (which == 2) return i / 500 * 600 + i % 500;
  if (which == 3) return i < bytes / 2 ? i + bytes / 2 + 64 : i - bytes / 2;
  return i;
}

static char value(size_t i, int seed) { return (char)((i * 2654435761u >> 13) + (size_t)seed); }

static void broadcast(int bytes, int root, int first_layout) {
  const int mine = (world_rank + first_layout) % kLayouts;
  const size_t room = (size_t)bytes / 4 * 5 + 4096;
  char* data = malloc(room);
  memset(data, 0x33, room);
  for (int i = 0; i < bytes && world_rank == root; ++i)
    data[place(mine, (size_t)bytes, (size_t)i)] = value((size_t)i, root);
  int count = 0;
  MPI_Datatype type = layout(mine, bytes, &count);
  const int code = MPI_Bcast(data, count, type, root, MPI_COMM_WORLD);
  CHECK(code == MPI_SUCCESS, "code %d", code);
  if (type != MPI_BYTE) MPI_Type_free(&type);
  int wrong = 0;
  for (int i = 0; i < bytes; ++i) {
    char* byte = &data[place(mine, (size_t)bytes, (size_t)i)];
    wrong += *byte != value((size_t)i, root);
    *byte = 0x33;
  }
  CHECK(wrong == 0, "%d bytes from %d, layout %d: %d are wrong", bytes, root, mine, wrong);
  wrong = 0;
  for (size_t i = 0; i < room; ++i) wrong += data[i] != 0x33;
  CHECK(wrong == 0, "%d bytes from %d, layout %d: %d gaps have been written to", bytes, root, mine, wrong);
  free(data);
}

typedef struct Element {
  unsigned factor, term;
  double gap[2];
} Element;

// Compositions of x -> factor x + term, which don't commute.
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const Element* a = in;
  Element* b = inout;
  for (int i = 0; i < *count; ++i) b[i].term += a[i].term * b[i].factor, b[i].factor *= a[i].factor;
}

static Element operand(int rank, int i) {
  const Element element = {(unsigned)(rank * 2 + 3), (unsigned)(i * 7 + rank), {-1, -1}};
  return element;
}

static void reduce(int dense) {
  enum { kElements = 1300 * 1000 };  // 8 bytes of each are sent, or all 24
  MPI_Datatype part, type;
  MPI_Type_contiguous(dense ? (int)sizeof(Element) : 8, MPI_BYTE, &part);
  MPI_Type_create_resized(part, 0, sizeof(Element), &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  Element* in = malloc(kElements * sizeof *in);
  Element* out = malloc(kElements * sizeof *out);
  enum { kAllreduce, kReduce, kScan, kExscan, kCalls };
  for (int call = 0; call < kCalls; ++call) {
    const int in_place = call % 2 == 0, root = world_size - 1, is_root = world_rank == root;
    for (int i = 0; i < kElements; ++i) {
      in[i] = out[i] = operand(world_rank, i);
      if (!in_place) out[i].term = 5;
    }
    const void* from = in_place ? MPI_IN_PLACE : in;
    int code = MPI_SUCCESS, last = world_size - 1;
    if (call == kAllreduce) code = MPI_Allreduce(from, out, kElements, type, op, MPI_COMM_WORLD);
    if (call == kReduce) code = MPI_Reduce(from, is_root ? out : NULL, kElements, type, op, root, MPI_COMM_WORLD);
    if (call == kScan) code = MPI_Scan(from, out, kElements, type, op, MPI_COMM_WORLD), last = world_rank;
    if (call == kExscan) code = MPI_Exscan(from, out, kElements, type, op, MPI_COMM_WORLD), last = world_rank - 1;
    CHECK(code == MPI_SUCCESS, "call %d returned %d", call, code);
    int wrong = 0;
    for (int i = 0; i < kElements && last >= 0 && (call != kReduce || is_root); ++i) {
      Element right = operand(last, i);
      for (int rank = last - 1; rank >= 0; --rank) {
        Element left = operand(rank, i);
        int one = 1;
        compose(&left, &right, &one, &type);
      }
      wrong += out[i].factor != right.factor || out[i].term != right.term || out[i].gap[1] != -1;
    }
    CHECK(wrong == 0, "call %d, dense %d: %d are wrong", call, dense, wrong);
  }
  free(in);
  free(out);
  MPI_Op_free(&op);
  MPI_Type_free(&part);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  set_up(MPI_COMM_WORLD);
  const int lengths[] = {8 * kMiB / 1000 * 1000, 8 * kMiB / 1000 * 1000 + 1000, 25 * 1000 * 1000};
  for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); ++i) {
    for (int first = 0; first < kLayouts; ++first) broadcast(lengths[i], (i + first) % world_size, first);
  }
  reduce(0);
  reduce(1);
  return finish("large_messages");
}
