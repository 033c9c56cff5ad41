// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers of all kinds, as bits, and what the processor makes of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "protocol/operation.h"

namespace hocket::test {

inline constexpr uint64_t kSeedOfNumbers = 20021;

template <typename Number>
struct Format;
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr uint32_t kType = NIC_DOUBLE;
  static constexpr int kFraction = 52;
  static constexpr int kExponent = 11;
};
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr uint32_t kType = NIC_FLOAT;
  static constexpr int kFraction = 23;
  static constexpr int kExponent = 8;
};
template <typename Number>
using Bits = typename Format<Number>::Bits;

// The processor's own, with the operands in this order: a compiler may exchange them, which shows where both are NaNs.
inline double add(double left, double right) {
#ifdef __x86_64__
  asm volatile("addsd %1, %0" : "+x"(left) : "x"(right));
  return left;
#else
  return left + right;
#endif
}
inline float add(float left, float right) {
#ifdef __x86_64__
  asm volatile("addss %1, %0" : "+x"(left) : "x"(right));
  return left;
#else
  return left + right;
#endif
}

template <typename Number>
Number apply(uint32_t operation, Number left, Number right) {
  switch (operation) {
    case NIC_SUM:
      return add(left, right);
    case NIC_MIN:
      return left < right ? left : right;
    default:
      return left > right ? left : right;
  }
}

template <typename Number>
bool is_same(Bits<Number> found, Bits<Number> expected) {
#ifdef __x86_64__
  return found == expected;
#else
  // Which NaN comes of NaNs is the processor's own affair.
  return found == expected || (std::isnan(std::bit_cast<Number>(found)) && std::isnan(std::bit_cast<Number>(expected)));
#endif
}

// Numbers at all borders: of formats, of rounding, of exponents.
template <typename Number>
std::vector<Bits<Number>> special_numbers() {
  using Limits = std::numeric_limits<Number>;
  constexpr int kFraction = Format<Number>::kFraction;
  constexpr Bits<Number> kOne = 1;
  std::vector<Bits<Number>> numbers;
  const auto with_neighbours = [&](Number number) {
    const auto bits = std::bit_cast<Bits<Number>>(number);
    for (const Bits<Number> near : {bits - 2, bits - 1, bits, bits + 1, bits + 2}) {
      numbers.push_back(near);
      numbers.push_back(near ^ kOne << (kFraction + Format<Number>::kExponent));
    }
  };
  for (const Number number : {Number(0), Number(1), Number(2), Number(1.5), Number(3), Limits::min(), Limits::max(),
                              Limits::denorm_min(), Limits::epsilon(), Limits::infinity(), Limits::quiet_NaN(),
                              Limits::signaling_NaN(), Limits::min() / 2, Limits::max() / 2})
    with_neighbours(number);
  for (int exponent = Limits::min_exponent - kFraction - 2; exponent < Limits::max_exponent;
       exponent += exponent < Limits::min_exponent + 4 || std::abs(exponent) <= kFraction + 4 ? 1 : 97)
    with_neighbours(std::ldexp(Number(1), exponent));
  return numbers;
}

// Of any kind, most of them near enough to one another that both count.
template <typename Number>
class RandomNumbers {
 public:
  std::pair<Bits<Number>, Bits<Number>> pair() {
    constexpr int kFraction = Format<Number>::kFraction;
    constexpr Bits<Number> kExponents = (Bits<Number>{1} << Format<Number>::kExponent) - 1;
    const Bits<Number> left = number();
    Bits<Number> right = number();
    if (random_() % 4 != 0) {
      const Bits<Number> near = (left >> kFraction & kExponents) + random_() % (2 * kFraction + 8) - (kFraction + 4);
      right = (right & ~(kExponents << kFraction)) | (near & kExponents) << kFraction;
    }
    return {left, right};
  }

 private:
  Bits<Number> number() {
    const auto bits = static_cast<Bits<Number>>(random_());
    // Long rows of zeros or ones are what rounding and carries are about.
    const auto row = static_cast<Bits<Number>>((Bits<Number>{1} << random_() % Format<Number>::kFraction) - 1);
    const uint64_t kind = random_() % 8;
    return kind == 0 ? bits & ~row : kind == 1 ? bits | row : bits;
  }
  std::mt19937_64 random_{kSeedOfNumbers};
};

}  // namespace hocket::test
