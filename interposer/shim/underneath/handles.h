// SPDX-License-Identifier: BSD-3-Clause
// The predefined handles of the MPI underneath, as values that are known only at run time. Each family has its own
// handles.cc that fills them in.
//
// Thread safety: filled in MPI_Init, constant afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/hocket.h"
#include "native.h"

namespace hocket::interposer {

// Those that this library uses by name: X(MPI type, member of Handles, MPI name, Open MPI's symbol).
#define HOCKET_MPI_HANDLES(X)                                        \
  X(MPI_Comm, comm_null, MPI_COMM_NULL, comm_null)                   \
  X(MPI_Comm, comm_world, MPI_COMM_WORLD, comm_world)                \
  X(MPI_Comm, comm_self, MPI_COMM_SELF, comm_self)                   \
  X(MPI_Datatype, type_null, MPI_DATATYPE_NULL, datatype_null)       \
  X(MPI_Datatype, byte, MPI_BYTE, byte)                              \
  X(MPI_Datatype, unsigned_long, MPI_UNSIGNED_LONG, unsigned_long)   \
  X(MPI_Op, op_null, MPI_OP_NULL, op_null)                           \
  X(MPI_Info, info_null, MPI_INFO_NULL, info_null)                   \
  X(MPI_Request, request_null, MPI_REQUEST_NULL, request_null)       \
  X(MPI_Win, win_null, MPI_WIN_NULL, win_null)                       \
  X(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN, errors_return) \
  X(MPI_Errhandler, errors_are_fatal, MPI_ERRORS_ARE_FATAL, errors_are_fatal)

struct Handles {
#define HOCKET_MEMBER(type, member, name, symbol) type member;
  HOCKET_MPI_HANDLES(HOCKET_MEMBER)
#undef HOCKET_MEMBER
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
  kChar,       // C's: the standard doesn't define its reductions, but all MPIs compute them
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
  int index;  // op_index() of hocket's operation, 0 for those without meaning in a reduction
};

// A predefined operation of hocket as a number, for tables and sets of bits.
inline int op_index(hocket_op_t op) { return static_cast<int>(reinterpret_cast<intptr_t>(op)); }

Handles native_handles();
std::vector<NamedType> native_types();
std::vector<NamedOp> native_ops();

// Those of the MPI underneath, valid once the job has started.
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
  X(MPI_CHAR, char, kChar)                                                \
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

// X(MPI name, Open MPI's symbol, hocket's operation).
#define HOCKET_MPI_NAMED_OPS(X)           \
  X(MPI_SUM, op_sum, HOCKET_SUM)          \
  X(MPI_PROD, op_prod, HOCKET_PROD)       \
  X(MPI_MIN, op_min, HOCKET_MIN)          \
  X(MPI_MAX, op_max, HOCKET_MAX)          \
  X(MPI_LAND, op_land, HOCKET_LAND)       \
  X(MPI_LOR, op_lor, HOCKET_LOR)          \
  X(MPI_LXOR, op_lxor, HOCKET_LXOR)       \
  X(MPI_BAND, op_band, HOCKET_BAND)       \
  X(MPI_BOR, op_bor, HOCKET_BOR)          \
  X(MPI_BXOR, op_bxor, HOCKET_BXOR)       \
  X(MPI_MINLOC, op_minloc, HOCKET_MINLOC) \
  X(MPI_MAXLOC, op_maxloc, HOCKET_MAXLOC) \
  X(MPI_REPLACE, op_replace, nullptr)     \
  X(MPI_NO_OP, op_no_op, nullptr)

}  // namespace hocket::interposer
