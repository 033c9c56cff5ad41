// SPDX-License-Identifier: BSD-3-Clause
// Collectives on memory of a device: on all ranks or on some of them, of every kind, in place or not, with types that
// leave gaps, predefined operations and the program's own; compared with the MPI underneath on the host's memory. With
// LATE=1 the driver is loaded when a communicator has long been in use.
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_calls.h"
#include "device_memory.h"

static struct collectives own, native;

struct pair {
  int first, gap, second;
};
static MPI_Datatype pair_type, vector_type, rows_type, backward_type, absolute_type;
static MPI_Op pair_op, sum_op;

static void combine_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct pair* a = (const struct pair*)in;
  struct pair* b = (struct pair*)inout;
  for (int i = 0; i < *count; ++i) {
    b[i].second ^= a[i].second;
    b[i].first = a[i].first + b[i].first;
  }
}

static void add_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((const int*)in)[i];
}

static void make_types(void) {
  const int lengths[2] = {1, 1};
  const MPI_Aint places[2] = {offsetof(struct pair, first), offsetof(struct pair, second)};
  const MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, lengths, places, parts, &pair_type);
  MPI_Type_vector(5, 2, 3, MPI_INT, &vector_type);
  // The inner rows of a small cube.
  const int sizes[3] = {4, 5, 6}, parts_of[3] = {2, 3, 2}, starts[3] = {1, 1, 3};
  MPI_Type_create_subarray(3, sizes, parts_of, starts, MPI_ORDER_C, MPI_INT, &rows_type);
  const int backwards[3] = {6, 3, 0};
  MPI_Type_create_indexed_block(3, 1, backwards, MPI_INT, &backward_type);
  MPI_Type_commit(&backward_type);
  MPI_Type_commit(&pair_type);
  MPI_Type_commit(&vector_type);
  MPI_Type_commit(&rows_type);
  MPI_Op_create(combine_pairs, 1, &pair_op);
  MPI_Op_create(add_ints, 1, &sum_op);
}

// --- one call, by both -----------------------------------------------------------------------------------------------

// The buffers of a call: on the host for the MPI underneath, and where hocket is to find them.
struct buffers {
  size_t bytes;
  unsigned char *host, *before, *fetched;
  unsigned char* own;
  enum memory_kind kind;
};

static struct buffers make_buffers(size_t bytes, enum memory_kind kind, int salt) {
  struct buffers all = {bytes, malloc(bytes), malloc(bytes), malloc(bytes), allocate(bytes, kind), kind};
  for (size_t i = 0; i < bytes; ++i) {
    all.before[i] = (unsigned char)(i % sizeof(int) == 0 ? i * 7 + (size_t)salt + (size_t)world_rank * 13 : 0);
  }
  memcpy(all.host, all.before, bytes);
  CHECK(all.own != NULL, "no memory of kind %d", kind);
  copy(all.own, all.before, bytes);
  return all;
}

static void fetch(struct buffers* all) { copy(all->fetched, all->own, all->bytes); }

static void free_buffers(struct buffers* all) {
  release(all->own, all->kind);
  free(all->host);
  free(all->before);
  free(all->fetched);
}

// 1 where an element of the type has data.
static unsigned char* make_mask(const struct call* call, size_t bytes, int elements) {
  int size = 0, position = 0;
  MPI_Pack_size(elements, call->type, call->comm, &size);
  unsigned char* const ones = malloc((size_t)size);
  unsigned char* const mask = calloc(bytes, 1);
  memset(ones, 1, (size_t)size);
  MPI_Unpack(ones, size, &position, mask, elements, call->type, call->comm);
  free(ones);
  return mask;
}

static void compare(const struct call* call, const struct buffers* all, const unsigned char* mask, const char* side) {
  for (size_t i = 0; i < all->bytes; ++i) {
    // What is in the gaps of a pair of MPI_MINLOC is the operation's affair.
    const int is_gap = mask[i] == 0;
    if (is_gap && call->type == MPI_DOUBLE_INT && is_reduction(call->which)) continue;
    const unsigned char right = is_gap ? all->before[i] : all->host[i];
    CHECK(all->fetched[i] == right,
          "%s of collective %d, kind %d, count %d, root %d, in place %d: byte %zu is %d, not %d", side, call->which,
          all->kind, call->count, call->root, call->in_place, i, all->fetched[i], right);
    if (all->fetched[i] != right) return;
  }
}

// By the MPI underneath, in ways that all of them master: MPICH 4 can't exchange in place, Open MPI's MPI_Alltoallw on
// one rank multiplies its displacements.
static void make_natively(const struct call* call, const struct buffers* in, const struct buffers* out) {
  struct call plain = *call;
  const int is_exchange = call->which >= kAlltoall && call->which <= kAlltoallw;
  if (call->which == kAlltoallw) plain.which = kAlltoallv;
  if (!is_exchange || !call->in_place) {
    make(&native, &plain, in->host, out->host);
    return;
  }
  unsigned char* const input = malloc(out->bytes);
  memcpy(input, out->host, out->bytes);
  plain.in_place = 0;
  make(&native, &plain, input, out->host);
  free(input);
}

static void check_call(const struct call* call, enum memory_kind in_kind, enum memory_kind out_kind, int salt) {
  int size;
  MPI_Comm_size(call->comm, &size);
  MPI_Aint lb, extent;
  MPI_Type_get_extent(call->type, &lb, &extent);
  const int elements = elements_of(call, size);
  const size_t bytes = (size_t)elements * (size_t)extent;
  struct buffers in = make_buffers(bytes, in_kind, salt), out = make_buffers(bytes, out_kind, salt + 100);
  make_natively(call, &in, &out);
  make(&own, call, in.own, out.own);
  fetch(&in);
  fetch(&out);
  unsigned char* const mask = make_mask(call, bytes, elements);
  compare(call, &in, mask, "input");
  compare(call, &out, mask, "output");
  free(mask);
  free_buffers(&in);
  free_buffers(&out);
}

static enum memory_kind draw_kind(uint64_t drawn) {
  return (enum memory_kind)((drawn >> (8 * (world_rank % 4))) % 256 % kMemoryKinds);
}

// Types whose reductions are known to all MPIs.
static void choose_operation(struct call* call) {
  call->op = random_number() % 3 == 0 ? sum_op : MPI_SUM;
  if (call->type == pair_type) call->op = pair_op;
  if (call->type == MPI_DOUBLE_INT) call->op = MPI_MINLOC;
  if (call->type != pair_type && call->type != MPI_DOUBLE_INT) call->type = MPI_INT;
}

static void check_all_collectives(MPI_Comm comm, int rounds) {
  int size;
  MPI_Comm_size(comm, &size);
  const MPI_Datatype types[] = {MPI_INT, pair_type, vector_type, rows_type, MPI_DOUBLE_INT, backward_type};
  const int counts[] = {1, 2, 13, 700, 6000};
  for (int round = 0; round < rounds; ++round) {
    for (int which = 0; which < kCollectives; ++which) {
      struct call call = {(enum collective)which, 0, 0, 0, MPI_INT, MPI_SUM, comm};
      call.type = types[random_number() % 6];
      call.count = counts[random_number() % (call.type == rows_type ? 3 : 5)];
      call.root = (int)(random_number() % (uint64_t)size);
      call.in_place = (int)(random_number() % 2);
      if (call.which == kExscan && size == 1) call.in_place = 0;  // Open MPI reads from MPI_IN_PLACE
      if (is_reduction(call.which)) choose_operation(&call);
      const uint64_t drawn_in = random_number(), drawn_out = random_number();
      check_call(&call, draw_kind(drawn_in >> 3), draw_kind(drawn_out >> 3), round);
    }
  }
}

static void check_each_kind_alone(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int kind = 0; kind < kMemoryKinds; ++kind) {
    // On all ranks, and on one.
    for (int alone = 0; alone < 2; ++alone) {
      const enum memory_kind here = alone && rank != 0 ? kHostMemory : (enum memory_kind)kind;
      struct call call = {kAllreduce, 10000, 0, 0, MPI_INT, MPI_SUM, comm};
      check_call(&call, here, here, kind);
      call.which = kBcast;
      call.type = vector_type;
      check_call(&call, here, here, kind);
    }
  }
}

// --- absolute addresses ----------------------------------------------------------------------------------------------

static void check_absolute_addresses(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  // Lower than any memory that is mapped: what is asked of the lowest address must not decide.
  static int on_host;
  on_host = rank == 0 ? 17 : 0;
  const int value = rank == 0 ? 23 : 0;
  int* const on_device = allocate(sizeof(int), kDeviceMemory);
  copy(on_device, &value, sizeof value);
  const int lengths[2] = {1, 1};
  MPI_Aint places[2];
  const MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
  MPI_Get_address(&on_host, &places[0]);
  MPI_Get_address(on_device, &places[1]);
  MPI_Type_create_struct(2, lengths, places, parts, &absolute_type);
  MPI_Type_commit(&absolute_type);
  MPI_Bcast(MPI_BOTTOM, 1, absolute_type, 0, comm);
  int fetched = 0;
  copy(&fetched, on_device, sizeof fetched);
  CHECK(on_host == 17 && fetched == 23, "%d %d", on_host, fetched);
  MPI_Type_free(&absolute_type);
  release(on_device, kDeviceMemory);
}

// --- memory that changes its kind ------------------------------------------------------------------------------------

static void sum_at(int* memory, int count, int is_device, MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  int* const host = malloc((size_t)count * sizeof *host);
  for (int i = 0; i < count; ++i) host[i] = i;
  if (is_device) copy(memory, host, (size_t)count * sizeof *host);
  if (!is_device) memcpy(memory, host, (size_t)count * sizeof *host);
  MPI_Allreduce(MPI_IN_PLACE, memory, count, MPI_INT, MPI_SUM, comm);
  if (is_device) copy(host, memory, (size_t)count * sizeof *host);
  if (!is_device) memcpy(host, memory, (size_t)count * sizeof *host);
  for (int i = 0; i < count; ++i) {
    CHECK(host[i] == i * size, "device %d: place %d holds %d", is_device, i, host[i]);
    if (host[i] != i * size) break;
  }
  free(host);
}

// The same addresses are the host's and the device's in turn, which nothing that has been remembered may confuse.
static void check_addresses_used_again(MPI_Comm comm) {
  enum { kCount = 1000 };
  const size_t bytes = 1 << 16;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  for (int turn = 0; turn < 3; ++turn) {
    sum_at((int*)place, kCount, 0, comm);
    munmap(place, bytes);
    int* const device = (int*)allocate_in_stand_in(bytes - 1, kDeviceMemory, place);
    sum_at(device, kCount, 1, comm);
    free_in_stand_in(device);
    place = mmap(place, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);
  }
  munmap(place, bytes);
}

// --- who copies ------------------------------------------------------------------------------------------------------

static void check_copies(MPI_Comm comm) {
  const struct stand_in_counts before = count_in_stand_in();
  // A driver must not be asked for each row, but Level Zero is.
  struct call call = {kBcast, 700, 0, 0, vector_type, MPI_SUM, comm};
  check_call(&call, kDeviceMemory, kDeviceMemory, 0);
  const struct stand_in_counts after = count_in_stand_in();
  const size_t copies = after.copies + after.copies_of_rows - before.copies - before.copies_of_rows;
  CHECK(copies > 0 && (copies < 100 || strstr(getenv("STAND_IN"), "libze") != NULL), "%zu copies", copies);
  // Managed memory is the driver's to copy, since other processes can't read it.
  call.type = MPI_INT;
  check_call(&call, kManagedMemory, kManagedMemory, 0);
  CHECK(count_in_stand_in().copies > after.copies, "%zu copies", count_in_stand_in().copies);
}

int main(int argc, char** argv) {
  const int is_late = getenv("LATE") != NULL;
  int is_here = is_late || load_driver();
  start(&argc, &argv);
  own = own_collectives();
  native = native_collectives();
  make_types();
  if (is_late) {
    int sum = 1;
    for (int i = 0; i < 20; ++i) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    // Others come and go before it, as libraries of the last place do.
    void* const other = getenv("OTHER_LIBRARY") != NULL ? dlopen(getenv("OTHER_LIBRARY"), RTLD_NOW) : NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (other != NULL) dlclose(other);
    is_here = load_driver();
  }
  int all_have = is_here;
  native_allreduce(&is_here, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all_have && is_real()) {
    if (world_rank == 0) printf("skipped: no CUDA device here\n");
    MPI_Finalize();
    return 0;
  }
  CHECK(is_here, "no driver");
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, world_rank, &comms[1]);
  for (int i = 0; i < 2; ++i) {
    check_each_kind_alone(comms[i]);
    check_all_collectives(comms[i], 12);
    check_absolute_addresses(comms[i]);
    if (!is_real()) check_addresses_used_again(comms[i]);
    if (!is_real() && i == 0) check_copies(comms[i]);
  }
  MPI_Comm_free(&comms[1]);
  return finish("device");
}
