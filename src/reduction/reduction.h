// SPDX-License-Identifier: BSD-3-Clause
// Element-wise reductions: every predefined MPI operation on every type it is defined for.
//
// Thread safety: everything here may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket::reduction {

// The numbers are those of hocket_type_t in the public header; src/c_api checks that they stay so.
enum class Type : uint8_t {
  kNone = 0,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplexFloat,
  kComplexDouble,
  kComplexLongDouble,
  kBool,      // C and C++ bool, one byte
  kLogical4,  // Fortran LOGICAL of 4 bytes: 0 is false, anything else true; true is written as 1
  kByte,      // bitwise operations only
  // Pairs for MINLOC and MAXLOC, laid out as C structs {value; int index;} with the compiler's padding.
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kIntInt,
  kShortInt,
  kLongDoubleInt,
  kFloatFloat,
  kDoubleDouble,  // Fortran's 2REAL and 2DOUBLE PRECISION
  kCount
};

enum class Operation : uint8_t {
  kNone = 0,
  kSum,
  kProduct,
  kMin,
  kMax,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kMinLoc,
  kMaxLoc,
  // Sums of 8- and 16-bit integers that stop at the ends of the range, as Open MPI's do.
  kSumSaturating,
  kCount
};

// out[i] = left[i] (op) right[i] for i < count. `out` may be `left` or `right` itself, and must not overlap
// them otherwise. No alignment is asked for beyond that of one byte.
using Combine = void (*)(const void* left, const void* right, void* out, size_t count);

// The fastest kernel for the CPU it runs on, or nullptr where MPI does not define the operation on the type.
// Results do not depend on the CPU found, on alignment or on how a vector is cut into pieces; only the payload of a
// NaN made from two NaNs may. Sums and products of integers wrap. kMin and kMax give the right operand where neither
// is less: with a NaN on either side, and for zeros of different sign; kMinLoc and kMaxLoc treat a NaN so too, and take
// the lower index of equal values. Logical operations give 0 or 1. Padding of long double and pairs is not defined.
Combine find_combine(Operation operation, Type type);

size_t size_of(Type type);  // bytes an element, with padding; 0 for kNone
std::string_view name(Type type);
std::string_view name(Operation operation);
// "avx512", "avx2", "baseline": what find_combine chose for this machine.
std::string_view instruction_set();

}  // namespace hocket::reduction
