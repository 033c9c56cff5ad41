// SPDX-License-Identifier: BSD-3-Clause
// Every predefined operation on every predefined type that it is defined for, over counts, roots, MPI_IN_PLACE and
// communicators: results are the MPI's own, bit for bit. Values are small, so that sums and products are exact.
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

#include "check.h"

enum Class { kInteger, kAddress, kFortranInteger, kFloat, kComplex, kLogical, kFortranLogical, kByte, kPair };

struct Type {
  MPI_Datatype type;
  const char* name;
  enum Class class;
  void (*set)(void* element, int value);
};

#define SETTER(name, ctype) \
  static void set_##name(void* element, int value) { *(ctype*)element = (ctype)value; }
SETTER(schar, signed char)
SETTER(short, short)
SETTER(int, int)
SETTER(long, long)
SETTER(llong, long long)
SETTER(uchar, unsigned char)
SETTER(ushort, unsigned short)
SETTER(uint, unsigned)
SETTER(ulong, unsigned long)
SETTER(ullong, unsigned long long)
SETTER(float, float)
SETTER(double, double)
SETTER(ldouble, long double)
SETTER(cfloat, float complex)
SETTER(cdouble, double complex)
SETTER(cldouble, long double complex)
static void set_bool(void* element, int value) { *(bool*)element = value % 2; }
static void set_logical(void* element, int value) { *(int*)element = value % 2; }

#define PAIR_SETTER(name, ctype)                       \
  struct name##_pair {                                 \
    ctype value;                                       \
    int place;                                         \
  };                                                   \
  static void set_##name##_pair(void* e, int value) {  \
    struct name##_pair* pair = (struct name##_pair*)e; \
    pair->value = (ctype)(value % 3);                  \
    pair->place = value;                               \
  }
PAIR_SETTER(float, float)
PAIR_SETTER(double, double)
PAIR_SETTER(long, long)
PAIR_SETTER(int, int)
PAIR_SETTER(short, short)
PAIR_SETTER(ldouble, long double)
static void set_two_float(void* e, int value) { ((float*)e)[0] = (float)(value % 3), ((float*)e)[1] = (float)value; }
static void set_two_double(void* e, int value) { ((double*)e)[0] = value % 3, ((double*)e)[1] = value; }

static struct Type types[64];
static int type_count = 0;

static void add(MPI_Datatype type, const char* name, enum Class class, void (*set)(void*, int)) {
  if (type == MPI_DATATYPE_NULL) return;
  types[type_count++] = (struct Type){type, name, class, set};
}
#define ADD(type, class, set) add(type, #type, class, set)

static void list_types(void) {
  ADD(MPI_SIGNED_CHAR, kInteger, set_schar);
  ADD(MPI_INT8_T, kInteger, set_schar);
  ADD(MPI_SHORT, kInteger, set_short);
  ADD(MPI_INT, kInteger, set_int);
  ADD(MPI_LONG, kInteger, set_long);
  ADD(MPI_LONG_LONG, kInteger, set_llong);
  ADD(MPI_INT64_T, kInteger, set_llong);
  ADD(MPI_UNSIGNED_CHAR, kInteger, set_uchar);
  ADD(MPI_UNSIGNED_SHORT, kInteger, set_ushort);
  ADD(MPI_UINT16_T, kInteger, set_ushort);
  ADD(MPI_UNSIGNED, kInteger, set_uint);
  ADD(MPI_UNSIGNED_LONG, kInteger, set_ulong);
  ADD(MPI_UNSIGNED_LONG_LONG, kInteger, set_ullong);
  ADD(MPI_AINT, kAddress, set_llong);
  ADD(MPI_OFFSET, kAddress, set_llong);
  ADD(MPI_COUNT, kAddress, set_llong);
  ADD(MPI_FLOAT, kFloat, set_float);
  ADD(MPI_DOUBLE, kFloat, set_double);
  ADD(MPI_LONG_DOUBLE, kFloat, set_ldouble);
  ADD(MPI_C_FLOAT_COMPLEX, kComplex, set_cfloat);
  ADD(MPI_C_DOUBLE_COMPLEX, kComplex, set_cdouble);
  ADD(MPI_C_LONG_DOUBLE_COMPLEX, kComplex, set_cldouble);
  ADD(MPI_C_BOOL, kLogical, set_bool);
  ADD(MPI_BYTE, kByte, set_uchar);
  ADD(MPI_FLOAT_INT, kPair, set_float_pair);
  ADD(MPI_DOUBLE_INT, kPair, set_double_pair);
  ADD(MPI_LONG_INT, kPair, set_long_pair);
  ADD(MPI_2INT, kPair, set_int_pair);
  ADD(MPI_SHORT_INT, kPair, set_short_pair);
  ADD(MPI_LONG_DOUBLE_INT, kPair, set_ldouble_pair);
#ifdef HOCKET_TEST_FORTRAN_TYPES
  ADD(MPI_INTEGER, kFortranInteger, set_int);
  ADD(MPI_INTEGER1, kFortranInteger, set_schar);
  ADD(MPI_INTEGER2, kFortranInteger, set_short);
  ADD(MPI_INTEGER8, kFortranInteger, set_long);
  ADD(MPI_REAL, kFloat, set_float);
  ADD(MPI_DOUBLE_PRECISION, kFloat, set_double);
  ADD(MPI_REAL8, kFloat, set_double);
  ADD(MPI_COMPLEX, kComplex, set_cfloat);
  ADD(MPI_DOUBLE_COMPLEX, kComplex, set_cdouble);
  ADD(MPI_LOGICAL, kFortranLogical, set_logical);
  ADD(MPI_2INTEGER, kPair, set_int_pair);
  ADD(MPI_2REAL, kPair, set_two_float);
  ADD(MPI_2DOUBLE_PRECISION, kPair, set_two_double);
#else
  (void)set_logical, (void)set_two_float, (void)set_two_double;
#endif
}

struct Op {
  MPI_Op op;
  const char* name;
  unsigned classes;
};
#define BIT(class) (1u << (class))

static const unsigned kNumbers = BIT(kInteger) | BIT(kAddress) | BIT(kFortranInteger) | BIT(kFloat);
static const unsigned kBits = BIT(kInteger) | BIT(kAddress) | BIT(kFortranInteger) | BIT(kByte);
static const unsigned kTruths = BIT(kInteger) | BIT(kLogical) | BIT(kFortranLogical);

static struct Op ops[12];
static void list_ops(void) {
  const struct Op all[12] = {{MPI_SUM, "sum", kNumbers | BIT(kComplex)},
                             {MPI_PROD, "prod", kNumbers | BIT(kComplex)},
                             {MPI_MIN, "min", kNumbers},
                             {MPI_MAX, "max", kNumbers},
                             {MPI_LAND, "land", kTruths},
                             {MPI_LOR, "lor", kTruths},
                             {MPI_LXOR, "lxor", kTruths},
                             {MPI_BAND, "band", kBits},
                             {MPI_BOR, "bor", kBits},
                             {MPI_BXOR, "bxor", kBits},
                             {MPI_MINLOC, "minloc", BIT(kPair)},
                             {MPI_MAXLOC, "maxloc", BIT(kPair)}};
  memcpy(ops, all, sizeof all);
}

static unsigned char *input, *expected, *result;
static const int counts[] = {0, 1, 2, 7, 64, 1000, 5003};
enum { kCounts = sizeof counts / sizeof *counts, kLargest = 5003, kLargestElement = 32 };

static void fill(const struct Type* type, MPI_Aint extent, int count, int rank) {
  memset(input, 0, (size_t)count * extent);
  for (int i = 0; i < count; ++i) type->set(input + i * extent, 1 + (rank * 7 + i * 3) % 4);
}

// Compares packed elements, so that padding doesn't count.
static int same(const struct Type* type, int count, MPI_Comm comm) {
  static unsigned char a[kLargest * kLargestElement], b[kLargest * kLargestElement];
  int position = 0, bytes = 0;
  MPI_Pack(expected, count, type->type, a, sizeof a, &bytes, comm);
  MPI_Pack(result, count, type->type, b, sizeof b, &position, comm);
  if (type->type == MPI_LONG_DOUBLE || type->type == MPI_C_LONG_DOUBLE_COMPLEX ||
      type->type == MPI_LONG_DOUBLE_INT) {  // 10 bytes of 16 mean something
    for (int i = 0; i < count; ++i) {
      const unsigned char *x = expected + i * (bytes / (count ? count : 1)), *y = result + (x - expected);
      if (type->type == MPI_LONG_DOUBLE_INT) x = expected + i * 32, y = result + i * 32;
      if (memcmp(x, y, 10) != 0) return 0;
    }
    return 1;
  }
  return bytes == position && memcmp(a, b, (size_t)bytes) == 0;
}

// What the MPI's own kernels make of all ranks' operands. Now and then its own collective is asked too.
static void expect(const struct Type* type, MPI_Aint extent, const struct Op* op, int count, MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fill(type, extent, count, rank);
  if (random_number() % 64 == 0) {
    native_allreduce(input, expected, count, type->type, op->op, comm);
    return;
  }
  fill(type, extent, count, size - 1);
  memcpy(expected, input, (size_t)count * extent);
  for (int other = size - 2; other >= 0; --other) {
    fill(type, extent, count, other);
    MPI_Reduce_local(input, expected, count, type->type, op->op);
  }
  fill(type, extent, count, rank);
}

static void check_reductions(const struct Type* type, const struct Op* op, int count, MPI_Comm comm) {
  MPI_Aint lb, extent;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_get_extent(type->type, &lb, &extent);
  const size_t bytes = (size_t)count * extent;
  const int root = (int)(random_number() % size);
  const int in_place = (int)(random_number() % 2);
  expect(type, extent, op, count, comm);

  memset(result, 0xa5, bytes);
  if (in_place) memcpy(result, input, bytes);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : input, result, count, type->type, op->op, comm);
  CHECK(same(type, count, comm), "allreduce %s %s count %d in place %d ranks %d", op->name, type->name, count, in_place,
        size);

  memset(result, 0xa5, bytes);
  if (in_place && rank == root) memcpy(result, input, bytes);
  MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : input, result, count, type->type, op->op, root, comm);
  if (rank == root) {
    CHECK(same(type, count, comm), "reduce %s %s count %d root %d in place %d ranks %d", op->name, type->name, count,
          root, in_place, size);
  } else {
    for (size_t i = 0; i < bytes; ++i) CHECK(result[i] == 0xa5, "reduce wrote where it must not, byte %zu", i);
  }
}

static void check_broadcast(const struct Type* type, int count, MPI_Comm comm) {
  MPI_Aint lb, extent;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_get_extent(type->type, &lb, &extent);
  const int root = (int)(random_number() % size);
  fill(type, extent, count, root);
  memcpy(expected, input, (size_t)count * extent);
  memset(result, 0xa5, (size_t)count * extent);
  if (rank == root) memcpy(result, input, (size_t)count * extent);
  MPI_Bcast(result, count, type->type, root, comm);
  CHECK(same(type, count, comm), "bcast %s count %d root %d ranks %d", type->name, count, root, size);
}

static void check_communicator(MPI_Comm comm) {
  for (int t = 0; t < type_count; ++t) {
    for (int c = 0; c < kCounts; ++c) {
      check_broadcast(&types[t], counts[c], comm);
      for (int o = 0; o < 12; ++o) {
        if ((ops[o].classes & BIT(types[t].class)) != 0) check_reductions(&types[t], &ops[o], counts[c], comm);
      }
    }
    MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  input = calloc(kLargest, kLargestElement);
  expected = calloc(kLargest, kLargestElement);
  result = calloc(kLargest, kLargestElement);
  list_types();
  list_ops();
  check_communicator(MPI_COMM_WORLD);
  MPI_Comm part;  // ranks in reverse order, two groups
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &part);
  check_communicator(part);
  MPI_Comm_free(&part);
  check_communicator(MPI_COMM_SELF);
  return finish("predefined");
}
