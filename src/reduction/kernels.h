// SPDX-License-Identifier: BSD-3-Clause
// All kernels, to be included once by each kernels_<instruction set>.cc, which is compiled for that instruction set
// and defines HOCKET_KERNELS as its name.
//
// Invariant: nothing here, and nothing included here, may leave a function behind that other files share. The linker
// keeps one copy of an inline function; were it this one, a lesser CPU would meet instructions that it doesn't have.
// Hence the namespace of its own, and only headers without functions.
//
// Thread safety: any thread; the kernels have no state.
#ifndef HOCKET_KERNELS
#error "kernels.h is compiled once for each instruction set, by files that define HOCKET_KERNELS"
#endif

#include <cstddef>
#include <cstdint>

#include "reduction/elements.h"
#include "reduction/kernel_table.h"
#include "reduction/operators.h"

// Tells the compiler that iterations don't depend on each other: `out` is `left` or `right` itself, or apart from them.
#if defined(__clang__)
#define HOCKET_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HOCKET_INDEPENDENT _Pragma("GCC ivdep")
#endif

// The only kernels in which a product meets a sum. With an instruction set that can fuse the two, GCC 12 does so here
// in spite of -ffp-contract=off, and rounds otherwise than the baseline: such a set takes these from another one.
#ifndef HOCKET_COMPLEX_PRODUCTS
#define HOCKET_COMPLEX_PRODUCTS HOCKET_KERNELS
#define HOCKET_OWN_COMPLEX_PRODUCTS
#endif
namespace hocket::reduction::HOCKET_COMPLEX_PRODUCTS {
void multiply_complex_float(const void* left, const void* right, void* out, size_t count);
void multiply_complex_double(const void* left, const void* right, void* out, size_t count);
}  // namespace hocket::reduction::HOCKET_COMPLEX_PRODUCTS

namespace hocket::reduction::HOCKET_KERNELS {

// An element at any address, in memory of which the compiler may assume no type.
template <typename T>
struct __attribute__((packed, may_alias)) Loose {
  T element;
};

template <typename Op, typename T>
void combine(const void* left, const void* right, void* out, size_t count) {
  const auto* a = static_cast<const Loose<T>*>(left);
  const auto* b = static_cast<const Loose<T>*>(right);
  auto* c = static_cast<Loose<T>*>(out);
  // The most frequent count of all must not pay for the vector loop's beginning.
  if (count == 1) {
    c->element = Op::apply(T(a->element), T(b->element));
    return;
  }
  HOCKET_INDEPENDENT
  for (size_t i = 0; i < count; ++i) c[i].element = Op::apply(T(a[i].element), T(b[i].element));
}

// A sum of complex numbers is one of twice as many real ones.
template <typename T>
void combine_complex_sum(const void* left, const void* right, void* out, size_t count) {
  combine<Sum, T>(left, right, out, 2 * count);
}

#ifdef HOCKET_OWN_COMPLEX_PRODUCTS
void multiply_complex_float(const void* left, const void* right, void* out, size_t count) {
  combine<Product, Complex<float>>(left, right, out, count);
}
void multiply_complex_double(const void* left, const void* right, void* out, size_t count) {
  combine<Product, Complex<double>>(left, right, out, count);
}
#endif

class Filler {
 public:
  template <typename T, typename Unsigned>
  constexpr void integer(Type type) {
    set(Operation::kSum, type, combine<Sum, Unsigned>);
    set(Operation::kProduct, type, combine<Product, Unsigned>);
    extremes<T>(type);
    logical<Unsigned>(type);
    bitwise<Unsigned>(type);
    if constexpr (sizeof(T) <= 2) set(Operation::kSumSaturating, type, combine<SumSaturating, T>);
  }

  template <typename T>
  constexpr void floating(Type real, Type complex, Combine complex_product) {
    set(Operation::kSum, real, combine<Sum, T>);
    set(Operation::kProduct, real, combine<Product, T>);
    extremes<T>(real);
    set(Operation::kSum, complex, combine_complex_sum<T>);
    set(Operation::kProduct, complex, complex_product);
  }

  template <typename Unsigned>
  constexpr void logical(Type type) {
    set(Operation::kLogicalAnd, type, combine<LogicalAnd, Unsigned>);
    set(Operation::kLogicalOr, type, combine<LogicalOr, Unsigned>);
    set(Operation::kLogicalXor, type, combine<LogicalXor, Unsigned>);
  }

  template <typename Unsigned>
  constexpr void bitwise(Type type) {
    set(Operation::kBitAnd, type, combine<BitAnd, Unsigned>);
    set(Operation::kBitOr, type, combine<BitOr, Unsigned>);
    set(Operation::kBitXor, type, combine<BitXor, Unsigned>);
  }

  template <typename Value, typename Index>
  constexpr void pair(Type type) {
    set(Operation::kMinLoc, type, combine<MinLoc, Pair<Value, Index>>);
    set(Operation::kMaxLoc, type, combine<MaxLoc, Pair<Value, Index>>);
  }

  constexpr KernelTable table() const { return table_; }

 private:
  template <typename T>
  constexpr void extremes(Type type) {
    set(Operation::kMin, type, combine<Min, T>);
    set(Operation::kMax, type, combine<Max, T>);
  }

  constexpr void set(Operation operation, Type type, Combine kernel) {
    table_.combine[static_cast<size_t>(operation)][static_cast<size_t>(type)] = kernel;
  }

  KernelTable table_ = {};
};

// Operations and types as in the MPI standard's table of predefined reduction operations.
constexpr KernelTable fill() {
  Filler filler;
  filler.integer<int8_t, uint8_t>(Type::kInt8);
  filler.integer<int16_t, uint16_t>(Type::kInt16);
  filler.integer<int32_t, uint32_t>(Type::kInt32);
  filler.integer<int64_t, uint64_t>(Type::kInt64);
  filler.integer<uint8_t, uint8_t>(Type::kUint8);
  filler.integer<uint16_t, uint16_t>(Type::kUint16);
  filler.integer<uint32_t, uint32_t>(Type::kUint32);
  filler.integer<uint64_t, uint64_t>(Type::kUint64);
  filler.floating<float>(Type::kFloat, Type::kComplexFloat, HOCKET_COMPLEX_PRODUCTS::multiply_complex_float);
  filler.floating<double>(Type::kDouble, Type::kComplexDouble, HOCKET_COMPLEX_PRODUCTS::multiply_complex_double);
  filler.floating<long double>(Type::kLongDouble, Type::kComplexLongDouble, combine<Product, Complex<long double>>);
  filler.logical<uint8_t>(Type::kBool);
  filler.logical<uint32_t>(Type::kLogical4);
  filler.bitwise<uint8_t>(Type::kByte);
  filler.pair<float, int>(Type::kFloatInt);
  filler.pair<double, int>(Type::kDoubleInt);
  filler.pair<long, int>(Type::kLongInt);
  filler.pair<int, int>(Type::kIntInt);
  filler.pair<short, int>(Type::kShortInt);
  filler.pair<long double, int>(Type::kLongDoubleInt);
  filler.pair<float, float>(Type::kFloatFloat);
  filler.pair<double, double>(Type::kDoubleDouble);
  return filler.table();
}

// Made by the compiler: there when the first constructor of a preloading program runs.
extern const KernelTable kTable;
constexpr KernelTable kTable = fill();

}  // namespace hocket::reduction::HOCKET_KERNELS
