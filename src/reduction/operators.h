// SPDX-License-Identifier: BSD-3-Clause
// What each operation does to one pair of elements. Part of kernels.h: see there why it lies in a namespace of its own
// for every instruction set and uses nothing of the standard library.
//
// Integers come here as unsigned where the sign makes no difference: sums and products wrap, as they do in every MPI.
// A product of 16-bit numbers would be one of signed int, and overflow: hence the 32-bit factors.
//
// Thread safety: pure functions.

namespace hocket::reduction::HOCKET_KERNELS {

struct Sum {
  template <typename T>
  static T apply(T left, T right) {
    return static_cast<T>(left + right);
  }
};

struct Product {
  template <typename T>
  static T apply(T left, T right) {
    if constexpr (sizeof(T) <= 2) {
      return static_cast<T>(static_cast<uint32_t>(left) * static_cast<uint32_t>(right));
    } else {
      return left * right;
    }
  }
  // The formula as it is written, without the search for infinities that C's operator makes when both parts of the
  // result are NaN: it gives the same bits wherever the result is a number.
  template <typename T>
  static Complex<T> apply(Complex<T> left, Complex<T> right) {
    return {left.real * right.real - left.imaginary * right.imaginary,
            left.real * right.imaginary + left.imaginary * right.real};
  }
};

// The right operand wins where neither is less: with a NaN on either side, and between zeros of different sign.
// That is what the vector instructions do. MPI leaves it open, and its implementations differ.
struct Min {
  template <typename T>
  static T apply(T left, T right) {
    return left < right ? left : right;
  }
};

struct Max {
  template <typename T>
  static T apply(T left, T right) {
    return left > right ? left : right;
  }
};

struct LogicalAnd {
  template <typename T>
  static T apply(T left, T right) {
    return static_cast<T>((left != 0) & (right != 0));
  }
};

struct LogicalOr {
  template <typename T>
  static T apply(T left, T right) {
    return static_cast<T>((left | right) != 0);
  }
};

struct LogicalXor {
  template <typename T>
  static T apply(T left, T right) {
    return static_cast<T>((left != 0) ^ (right != 0));
  }
};

struct BitAnd {
  template <typename T>
  static T apply(T left, T right) {
    return left & right;
  }
};

struct BitOr {
  template <typename T>
  static T apply(T left, T right) {
    return left | right;
  }
};

struct BitXor {
  template <typename T>
  static T apply(T left, T right) {
    return left ^ right;
  }
};

// Equal values take the lower index; a NaN on either side takes the right pair, as in Min.
struct MinLoc {
  template <typename P>
  static P apply(P left, P right) {
    const bool first = (left.value < right.value) | ((left.value == right.value) & (left.index < right.index));
    return {first ? left.value : right.value, first ? left.index : right.index};
  }
};

struct MaxLoc {
  template <typename P>
  static P apply(P left, P right) {
    const bool first = (left.value > right.value) | ((left.value == right.value) & (left.index < right.index));
    return {first ? left.value : right.value, first ? left.index : right.index};
  }
};

// In the elements' own width, so that a vector holds as many of them as it can. T is signed or unsigned here.
struct SumSaturating {
  template <typename T, typename Unsigned, T kLeast, T kGreatest>
  static T add(T left, T right) {
    const Unsigned sum = static_cast<Unsigned>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right));
    if constexpr (kLeast == 0) {
      return sum < left ? kGreatest : sum;  // wrapped
    } else {
      // Overflow: the operands have one sign and the sum the other.
      const T flipped = static_cast<T>((static_cast<Unsigned>(left) ^ sum) & (static_cast<Unsigned>(right) ^ sum));
      const T end = left < 0 ? kLeast : kGreatest;
      return flipped < 0 ? end : static_cast<T>(sum);
    }
  }
  static int8_t apply(int8_t left, int8_t right) { return add<int8_t, uint8_t, INT8_MIN, INT8_MAX>(left, right); }
  static int16_t apply(int16_t left, int16_t right) {
    return add<int16_t, uint16_t, INT16_MIN, INT16_MAX>(left, right);
  }
  static uint8_t apply(uint8_t left, uint8_t right) { return add<uint8_t, uint8_t, 0, UINT8_MAX>(left, right); }
  static uint16_t apply(uint16_t left, uint16_t right) { return add<uint16_t, uint16_t, 0, UINT16_MAX>(left, right); }
};

}  // namespace hocket::reduction::HOCKET_KERNELS
