// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/named_types.h"

namespace hocket::interposer {
namespace {

uint16_t bit(hocket_op_t op) { return static_cast<uint16_t>(1u << op_index(op)); }

// reinterpret_cast keeps these from being constexpr.
const uint16_t kSumProd = bit(HOCKET_SUM) | bit(HOCKET_PROD);
const uint16_t kArithmetic = kSumProd | bit(HOCKET_MIN) | bit(HOCKET_MAX);
const uint16_t kLogical = bit(HOCKET_LAND) | bit(HOCKET_LOR) | bit(HOCKET_LXOR);
const uint16_t kBitwise = bit(HOCKET_BAND) | bit(HOCKET_BOR) | bit(HOCKET_BXOR);
const uint16_t kLocation = bit(HOCKET_MINLOC) | bit(HOCKET_MAXLOC);

hocket_type_t integer_type(bool is_signed, size_t size) {
  switch (size) {
    case 1:
      return is_signed ? HOCKET_INT8 : HOCKET_UINT8;
    case 2:
      return is_signed ? HOCKET_INT16 : HOCKET_UINT16;
    case 4:
      return is_signed ? HOCKET_INT32 : HOCKET_UINT32;
    case 8:
      return is_signed ? HOCKET_INT64 : HOCKET_UINT64;
    default:
      return 0;
  }
}

hocket_type_t type_of_size(size_t size, size_t small, hocket_type_t small_type, hocket_type_t large_type) {
  if (size == small) return small_type;
  return size == 2 * small ? large_type : 0;
}

hocket_type_t only_if(bool fits, hocket_type_t type) { return fits ? type : hocket_type_t{0}; }

struct Meaning {
  hocket_type_t type;
  uint16_t ops;
  // Not defined by the standard, and computed by the MPI all the same; if it weren't, there would be no way to ask that
  // leaves the program's error handlers alone.
  uint16_t undefined_ops = 0;
};

Meaning meaning(Kind kind, size_t size) {
  switch (kind) {
    case Kind::kSigned:
      return {integer_type(true, size), static_cast<uint16_t>(kArithmetic | kLogical | kBitwise)};
    case Kind::kUnsigned:
      return {integer_type(false, size), static_cast<uint16_t>(kArithmetic | kLogical | kBitwise)};
    case Kind::kMultiLanguage:
      return {integer_type(true, size), static_cast<uint16_t>(kArithmetic | kBitwise), kLogical};
    case Kind::kFortranInteger:
      return {integer_type(true, size), static_cast<uint16_t>(kArithmetic | kBitwise)};
    case Kind::kFloat:
      return {type_of_size(size, 4, HOCKET_FLOAT, HOCKET_DOUBLE), kArithmetic};
    case Kind::kLongDouble:
      return {only_if(size == sizeof(long double), HOCKET_LONG_DOUBLE), kArithmetic};
    case Kind::kComplex:
      return {type_of_size(size, 8, HOCKET_COMPLEX_FLOAT, HOCKET_COMPLEX_DOUBLE), kSumProd};
    case Kind::kComplexLongDouble:
      return {HOCKET_COMPLEX_LONG_DOUBLE, kSumProd};
    case Kind::kBool:
      return {only_if(size == sizeof(bool), HOCKET_BOOL), kLogical};
    // What is true in Fortran depends on the compiler that the MPI was built for: the MPI knows.
    case Kind::kFortranLogical:
      return {0, kLogical};
    case Kind::kByte:
      return {HOCKET_BYTE, kBitwise,
              computes_with_bytes() ? static_cast<uint16_t>(kArithmetic | kLogical) : uint16_t{0}};
    case Kind::kChar:
      return {0, 0, static_cast<uint16_t>(kArithmetic | kLogical | kBitwise)};
    case Kind::kCharacter:
      return {0, 0};
    case Kind::kFloatInt:
      return {HOCKET_FLOAT_INT, kLocation};
    case Kind::kDoubleInt:
      return {HOCKET_DOUBLE_INT, kLocation};
    case Kind::kLongInt:
      return {HOCKET_LONG_INT, kLocation};
    case Kind::kTwoInt:
      return {only_if(size == 2 * sizeof(int), HOCKET_2INT), kLocation};
    case Kind::kShortInt:
      return {HOCKET_SHORT_INT, kLocation};
    case Kind::kLongDoubleInt:
      return {HOCKET_LONG_DOUBLE_INT, kLocation};
    case Kind::kTwoFloat:
      return {only_if(size == 2 * sizeof(float), HOCKET_2FLOAT), kLocation};
    case Kind::kTwoDouble:
      return {only_if(size == 2 * sizeof(double), HOCKET_2DOUBLE), kLocation};
  }
  return {0, 0};
}

bool is_short_integer(hocket_type_t type) {
  return type == HOCKET_INT8 || type == HOCKET_INT16 || type == HOCKET_UINT8 || type == HOCKET_UINT16;
}

}  // namespace

void set_named_ops(Kind kind, TypeFacts& facts) {
  const Meaning found = meaning(kind, facts.size);
  facts.hocket_type = found.type;
  uint16_t own = found.type != 0 ? found.ops : uint16_t{0};
  if (short_sums_saturate() && is_short_integer(found.type)) own &= static_cast<uint16_t>(~bit(HOCKET_SUM));
  facts.hocket_ops = own;
  facts.mpi_ops = static_cast<uint16_t>((found.ops & ~own) | found.undefined_ops);
}

void set_parametric_ops(int combiner, TypeFacts& facts) {
  if (combiner == MPI_COMBINER_F90_INTEGER) facts.mpi_ops = kArithmetic | kBitwise;
  if (combiner == MPI_COMBINER_F90_REAL) facts.mpi_ops = kArithmetic;
  if (combiner == MPI_COMBINER_F90_COMPLEX) facts.mpi_ops = kSumProd;
}

}  // namespace hocket::interposer
