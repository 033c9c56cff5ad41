// SPDX-License-Identifier: BSD-3-Clause
// The predefined handles of the MPI underneath, as values that are known only at run time. Each family has its own
// handles.cc that fills them in.
#pragma once

#include <cstdint>
#include <vector>

#include "native.h"

namespace hocket::interposer {

struct Handles {
  MPI_Comm comm_null, comm_world, comm_self;
  MPI_Datatype type_null, byte, packed;
  MPI_Op op_null;
  MPI_Info info_null;
  MPI_Errhandler errors_return;
};

// What the elements of a predefined type are; with their size it says which of hocket's types they are.
enum class Kind : uint8_t {
  kSigned,
  kUnsigned,
  kMultiLanguage,  // MPI_AINT, MPI_OFFSET, MPI_COUNT
  kFortranInteger,
  kFloat,  // of 4 and 8 bytes; others are known to the MPI alone
  kLongDouble,
  kComplex,
  kComplexLongDouble,
  kBool,
  kFortranLogical,
  kByte,
  kCharacter,  // moved, but never reduced
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kTwoInt,
  kShortInt,
  kLongDoubleInt,
  kTwoFloat,
  kTwoDouble,
};

struct NamedType {
  MPI_Datatype handle;
  Kind kind;
};

struct NamedOp {
  MPI_Op handle;
  int index;  // its hocket_op_t as a number (HOCKET_SUM is 1), 0 for those without meaning in a reduction
};

Handles native_handles();
std::vector<NamedType> native_types();
std::vector<NamedOp> native_ops();

// Those of the MPI underneath, valid once the job has begun.
extern Handles handles;

// All names that both families define, for handles.cc: X(MPI name, Open MPI's symbol, kind).
#define HOCKET_MPI_NAMED_TYPES(X)                                         \
  X(MPI_SIGNED_CHAR, signed_char, kSigned)                                \
  X(MPI_SHORT, short, kSigned)                                            \
  X(MPI_INT, int, kSigned)                                                \
  X(MPI_LONG, long, kSigned)                                              \
  X(MPI_LONG_LONG_INT, long_long_int, kSigned)                            \
  X(MPI_INT8_T, int8_t, kSigned)                                          \
  X(MPI_INT16_T, int16_t, kSigned)                                        \
  X(MPI_INT32_T, int32_t, kSigned)                                        \
  X(MPI_INT64_T, int64_t, kSigned)                                        \
  X(MPI_UNSIGNED_CHAR, unsigned_char, kUnsigned)                          \
  X(MPI_UNSIGNED_SHORT, unsigned_short, kUnsigned)                        \
  X(MPI_UNSIGNED, unsigned, kUnsigned)                                    \
  X(MPI_UNSIGNED_LONG, unsigned_long, kUnsigned)                          \
  X(MPI_UNSIGNED_LONG_LONG, unsigned_long_long, kUnsigned)                \
  X(MPI_UINT8_T, uint8_t, kUnsigned)                                      \
  X(MPI_UINT16_T, uint16_t, kUnsigned)                                    \
  X(MPI_UINT32_T, uint32_t, kUnsigned)                                    \
  X(MPI_UINT64_T, uint64_t, kUnsigned)                                    \
  X(MPI_AINT, aint, kMultiLanguage)                                       \
  X(MPI_OFFSET, offset, kMultiLanguage)                                   \
  X(MPI_COUNT, count, kMultiLanguage)                                     \
  X(MPI_INTEGER, integer, kFortranInteger)                                \
  X(MPI_INTEGER1, integer1, kFortranInteger)                              \
  X(MPI_INTEGER2, integer2, kFortranInteger)                              \
  X(MPI_INTEGER4, integer4, kFortranInteger)                              \
  X(MPI_INTEGER8, integer8, kFortranInteger)                              \
  X(MPI_FLOAT, float, kFloat)                                             \
  X(MPI_DOUBLE, double, kFloat)                                           \
  X(MPI_REAL, real, kFloat)                                               \
  X(MPI_DOUBLE_PRECISION, dblprec, kFloat)                                \
  X(MPI_REAL4, real4, kFloat)                                             \
  X(MPI_REAL8, real8, kFloat)                                             \
  X(MPI_REAL16, real16, kFloat)                                           \
  X(MPI_LONG_DOUBLE, long_double, kLongDouble)                            \
  X(MPI_C_FLOAT_COMPLEX, c_float_complex, kComplex)                       \
  X(MPI_C_DOUBLE_COMPLEX, c_double_complex, kComplex)                     \
  X(MPI_CXX_FLOAT_COMPLEX, cxx_cplex, kComplex)                           \
  X(MPI_CXX_DOUBLE_COMPLEX, cxx_dblcplex, kComplex)                       \
  X(MPI_COMPLEX, cplex, kComplex)                                         \
  X(MPI_DOUBLE_COMPLEX, dblcplex, kComplex)                               \
  X(MPI_COMPLEX8, complex8, kComplex)                                     \
  X(MPI_COMPLEX16, complex16, kComplex)                                   \
  X(MPI_COMPLEX32, complex32, kComplex)                                   \
  X(MPI_C_LONG_DOUBLE_COMPLEX, c_long_double_complex, kComplexLongDouble) \
  X(MPI_CXX_LONG_DOUBLE_COMPLEX, cxx_ldblcplex, kComplexLongDouble)       \
  X(MPI_C_BOOL, c_bool, kBool)                                            \
  X(MPI_CXX_BOOL, cxx_bool, kBool)                                        \
  X(MPI_LOGICAL, logical, kFortranLogical)                                \
  X(MPI_BYTE, byte, kByte)                                                \
  X(MPI_PACKED, packed, kCharacter)                                       \
  X(MPI_CHAR, char, kCharacter)                                           \
  X(MPI_WCHAR, wchar, kCharacter)                                         \
  X(MPI_CHARACTER, character, kCharacter)                                 \
  X(MPI_FLOAT_INT, float_int, kFloatInt)                                  \
  X(MPI_DOUBLE_INT, double_int, kDoubleInt)                               \
  X(MPI_LONG_INT, long_int, kLongInt)                                     \
  X(MPI_2INT, 2int, kTwoInt)                                              \
  X(MPI_SHORT_INT, short_int, kShortInt)                                  \
  X(MPI_LONG_DOUBLE_INT, longdbl_int, kLongDoubleInt)                     \
  X(MPI_2INTEGER, 2integer, kTwoInt)                                      \
  X(MPI_2REAL, 2real, kTwoFloat)                                          \
  X(MPI_2DOUBLE_PRECISION, 2dblprec, kTwoDouble)

// X(MPI name, Open MPI's symbol, hocket_op_t as a number).
#define HOCKET_MPI_NAMED_OPS(X) \
  X(MPI_SUM, op_sum, 1)         \
  X(MPI_PROD, op_prod, 2)       \
  X(MPI_MIN, op_min, 3)         \
  X(MPI_MAX, op_max, 4)         \
  X(MPI_LAND, op_land, 5)       \
  X(MPI_LOR, op_lor, 6)         \
  X(MPI_LXOR, op_lxor, 7)       \
  X(MPI_BAND, op_band, 8)       \
  X(MPI_BOR, op_bor, 9)         \
  X(MPI_BXOR, op_bxor, 10)      \
  X(MPI_MINLOC, op_minloc, 11)  \
  X(MPI_MAXLOC, op_maxloc, 12)  \
  X(MPI_REPLACE, op_replace, 0) \
  X(MPI_NO_OP, op_no_op, 0)

}  // namespace hocket::interposer
