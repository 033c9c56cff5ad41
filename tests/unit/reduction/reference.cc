// SPDX-License-Identifier: BSD-3-Clause
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

namespace hocket::reduction {
namespace {

// As in a C program that calls MPI.
template <typename V, typename I>
struct ValueAndIndex {
  V value;
  I index;
};

template <typename T>
struct Tag {
  using Type = T;
};

// Calls `visit` with a tag of the C++ type.
template <typename Visit>
void with_type(Type type, Visit&& visit) {
  switch (type) {
    case Type::kInt8:
      return visit(Tag<int8_t>());
    case Type::kInt16:
      return visit(Tag<int16_t>());
    case Type::kInt32:
      return visit(Tag<int32_t>());
    case Type::kInt64:
      return visit(Tag<int64_t>());
    case Type::kUint8:
    case Type::kBool:
    case Type::kByte:
      return visit(Tag<uint8_t>());
    case Type::kUint16:
      return visit(Tag<uint16_t>());
    case Type::kUint32:
    case Type::kLogical4:
      return visit(Tag<uint32_t>());
    case Type::kUint64:
      return visit(Tag<uint64_t>());
    case Type::kFloat:
      return visit(Tag<float>());
    case Type::kDouble:
      return visit(Tag<double>());
    case Type::kLongDouble:
      return visit(Tag<long double>());
    case Type::kComplexFloat:
      return visit(Tag<std::complex<float>>());
    case Type::kComplexDouble:
      return visit(Tag<std::complex<double>>());
    case Type::kComplexLongDouble:
      return visit(Tag<std::complex<long double>>());
    case Type::kFloatInt:
      return visit(Tag<ValueAndIndex<float, int>>());
    case Type::kDoubleInt:
      return visit(Tag<ValueAndIndex<double, int>>());
    case Type::kLongInt:
      return visit(Tag<ValueAndIndex<long, int>>());
    case Type::kIntInt:
      return visit(Tag<ValueAndIndex<int, int>>());
    case Type::kShortInt:
      return visit(Tag<ValueAndIndex<short, int>>());
    case Type::kLongDoubleInt:
      return visit(Tag<ValueAndIndex<long double, int>>());
    case Type::kFloatFloat:
      return visit(Tag<ValueAndIndex<float, float>>());
    case Type::kDoubleDouble:
      return visit(Tag<ValueAndIndex<double, double>>());
    case Type::kNone:
    case Type::kCount:
      return;
  }
}

template <typename T>
concept Integer = std::is_integral_v<T>;
template <typename T>
concept Floating = std::is_floating_point_v<T>;
template <typename T>
concept Complex = requires(T t) { t.real(); };

template <Integer T>
T combine(Operation operation, T left, T right) {
  const __int128 sum = static_cast<__int128>(left) + right;
  switch (operation) {
    case Operation::kSum:
      return static_cast<T>(sum);
    case Operation::kProduct:
      return static_cast<T>(static_cast<unsigned __int128>(left) * static_cast<unsigned __int128>(right));
    case Operation::kMin:
      return std::min(left, right);
    case Operation::kMax:
      return std::max(left, right);
    case Operation::kLogicalAnd:
      return left && right;
    case Operation::kLogicalOr:
      return left || right;
    case Operation::kLogicalXor:
      return (left != 0) != (right != 0);
    case Operation::kBitAnd:
      return left & right;
    case Operation::kBitOr:
      return left | right;
    case Operation::kBitXor:
      return left ^ right;
    case Operation::kSumSaturating:
      return static_cast<T>(std::clamp<__int128>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    default:
      return {};
  }
}

template <Floating T>
T combine(Operation operation, T left, T right) {
  switch (operation) {
    case Operation::kSum:
      return left + right;
    case Operation::kProduct:
      return left * right;
    case Operation::kMin:
      return std::isless(left, right) ? left : right;
    case Operation::kMax:
      return std::isgreater(left, right) ? left : right;
    default:
      return {};
  }
}

template <Complex T>
T combine(Operation operation, T left, T right) {
  if (operation == Operation::kSum) return {left.real() + right.real(), left.imag() + right.imag()};
  // volatile: no product may be fused with a sum.
  volatile auto real_real = left.real() * right.real();
  volatile auto imaginary_imaginary = left.imag() * right.imag();
  volatile auto real_imaginary = left.real() * right.imag();
  volatile auto imaginary_real = left.imag() * right.real();
  return {real_real - imaginary_imaginary, real_imaginary + imaginary_real};
}

template <typename V, typename I>
ValueAndIndex<V, I> combine(Operation operation, ValueAndIndex<V, I> left, ValueAndIndex<V, I> right) {
  if (left.value == right.value) return left.index < right.index ? left : right;
  const bool first = operation == Operation::kMinLoc ? left.value < right.value : left.value > right.value;
  return first ? left : right;
}

template <Floating T>
bool same_number(T a, T b, bool computed) {
  if (computed && std::isnan(a) && std::isnan(b)) return true;
  // An x87 number has ten bytes, the rest is padding.
  return same_bytes(&a, &b, std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T));
}

template <Integer T>
bool same_number(T a, T b, bool) {
  return a == b;
}

template <Complex T>
bool same_number(T a, T b, bool computed) {
  return same_number(a.real(), b.real(), computed) && same_number(a.imag(), b.imag(), computed);
}

template <typename V, typename I>
bool same_number(ValueAndIndex<V, I> a, ValueAndIndex<V, I> b, bool computed) {
  return same_number(a.value, b.value, computed) && same_number(a.index, b.index, computed);
}

template <typename T, size_t kSize>
T one_of(const T (&values)[kSize], std::mt19937_64& random) {
  return values[random() % kSize];
}

template <Integer T>
void fill(T& number, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  switch (random() % 3) {
    case 0:
      number = one_of<T>({0, 1, 2, static_cast<T>(-1), Limits::min(), Limits::max(), static_cast<T>(Limits::max() - 1)},
                         random);
      return;
    case 1:
      number = static_cast<T>(static_cast<int>(random() % 9) - 4);
      return;
    default:
      number = static_cast<T>(random());
  }
}

template <Floating T>
void fill(T& number, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  switch (random() % 4) {
    case 0:
      number = one_of<T>({T(0), -T(0), T(1), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                          -Limits::quiet_NaN(), Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min()},
                         random);
      return;
    case 1:
      number = static_cast<T>(static_cast<int>(random() % 9) - 4);
      return;
    case 2:
      number = static_cast<T>(static_cast<int64_t>(random())) / static_cast<T>(3);
      return;
    default:
      // Arbitrary bits: of a long double most would be no number that the processor knows.
      if constexpr (sizeof(T) <= sizeof(uint64_t)) {
        const uint64_t bits = random();
        std::memcpy(&number, &bits, sizeof number);
      } else {
        number = std::ldexp(static_cast<T>(random()), static_cast<int>(random() % 32000) - 16000);
      }
  }
}

template <Complex T>
void fill(T& number, std::mt19937_64& random) {
  typename T::value_type real, imaginary;
  fill(real, random);
  fill(imaginary, random);
  number = {real, imaginary};
}

template <typename V, typename I>
void fill(ValueAndIndex<V, I>& pair, std::mt19937_64& random) {
  fill(pair.value, random);
  fill(pair.index, random);
}

// A letter a type, in the order of Type: i integer, f floating, c complex, l logical, b byte, p pair.
constexpr std::string_view kCategories = "-iiiiiiiifffcccllbpppppppp";

}  // namespace

bool same_bytes(const void* a, const void* b, size_t bytes) { return std::memcmp(a, b, bytes) == 0; }

bool mpi_defines(Operation operation, Type type) {
  const char category = kCategories[static_cast<size_t>(type)];
  const auto is = [&](std::string_view letters) { return letters.find(category) != std::string_view::npos; };
  switch (operation) {
    case Operation::kMin:
    case Operation::kMax:
      return is("if");
    case Operation::kSum:
    case Operation::kProduct:
      return is("ifc");
    case Operation::kLogicalAnd:
    case Operation::kLogicalOr:
    case Operation::kLogicalXor:
      return is("il");
    case Operation::kBitAnd:
    case Operation::kBitOr:
    case Operation::kBitXor:
      return is("ib");
    case Operation::kMinLoc:
    case Operation::kMaxLoc:
      return is("p");
    case Operation::kSumSaturating:
      return is("i") && size_of(type) <= 2;
    case Operation::kNone:
    case Operation::kCount:
      return false;
  }
  return false;
}

void reference(Operation operation, Type type, const void* left, const void* right, void* out) {
  with_type(type, [&](auto tag) {
    typename decltype(tag)::Type a, b;
    std::memcpy(&a, left, sizeof a);
    std::memcpy(&b, right, sizeof b);
    const auto result = combine(operation, a, b);
    std::memcpy(out, &result, sizeof result);
  });
}

bool same_element(Operation operation, Type type, const void* a, const void* b) {
  bool same = false;
  with_type(type, [&](auto tag) {
    typename decltype(tag)::Type x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    same = same_number(x, y, operation == Operation::kSum || operation == Operation::kProduct);
  });
  return same;
}

Bytes random_elements(Type type, size_t count, std::mt19937_64& random) {
  Bytes bytes(count * size_of(type));
  with_type(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (size_t i = 0; i < count; ++i) {
      T element;
      std::memset(static_cast<void*>(&element), 0, sizeof element);
      fill(element, random);
      std::memcpy(&bytes[i * sizeof(T)], &element, sizeof(T));
    }
  });
  return bytes;
}

}  // namespace hocket::reduction
