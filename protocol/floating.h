/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* IEEE 754 numbers without a floating-point unit: the kernel's programs have none. Bit for bit what a processor gives
 * that rounds to nearest, ties to even, with subnormals, infinities and signed zeros.
 *
 * Of NaNs the first operand's goes on, made quiet, else the second's; infinities of different sign give the NaN that
 * x86 gives (negative, quiet, nothing else). IEEE 754 leaves both open.
 *
 * A number is its bits in a 64-bit word; `fraction` and `exponent` are how many bits its format has for either, and
 * constants: 52 and 11 for binary64, 23 and 8 for binary32.
 *
 * Thread safety: pure functions. */
#ifndef HOCKET_PROTOCOL_FLOATING_H
#define HOCKET_PROTOCOL_FLOATING_H

#include "protocol/packet.h"

NIC_INLINE __u64 nic_sign_bit(int fraction, int exponent) { return 1ULL << (fraction + exponent); }
NIC_INLINE __u64 nic_infinity(int fraction, int exponent) { return ((1ULL << exponent) - 1) << fraction; }
NIC_INLINE __u64 nic_magnitude(__u64 number, int fraction, int exponent) {
  return number & (nic_sign_bit(fraction, exponent) - 1);
}

/* The significand with its leading bit, where the number has one, and three bits more: two to round by, and one that
 * stands for all that was behind them. */
NIC_INLINE __u64 nic_significand(__u64 magnitude, int fraction) {
  const __u64 bits = magnitude & ((1ULL << fraction) - 1);
  return (magnitude >> fraction != 0 ? bits | 1ULL << fraction : bits) << 3;
}

/* Subnormal numbers have the exponent of the least normal ones. */
NIC_INLINE __u64 nic_exponent(__u64 magnitude, int fraction) {
  const __u64 biased = magnitude >> fraction;
  return biased == 0 ? 1 : biased;
}

/* Moves the leading bit to its place, unless the exponent becomes too small before. */
NIC_INLINE __u64 nic_normalized(__u64 significand, __u64* exponent, int fraction) {
  for (int step = 32; step > 0; step >>= 1) {
    if (step > fraction + 3 || significand >> (fraction + 4 - step) != 0 || *exponent <= (__u64)step) continue;
    significand <<= step;
    *exponent -= (__u64)step;
  }
  return significand;
}

/* The magnitude of a significand with its three bits more and an exponent, rounded. A carry out of the significand goes
 * into the exponent by itself, up to infinity. */
NIC_INLINE __u64 nic_rounded(__u64 significand, __u64 exponent, int fraction, int exponent_bits) {
  const __u64 behind = significand & 7;
  __u64 kept = significand >> 3;
  kept += behind > 4 || (behind == 4 && (kept & 1) != 0);
  const __u64 magnitude = ((exponent - 1) << fraction) + kept;
  const __u64 infinity = nic_infinity(fraction, exponent_bits);
  return magnitude < infinity ? magnitude : infinity;
}

NIC_INLINE __u64 nic_shifted_right(__u64 significand, __u64 by) {
  if (by >= 63) return significand != 0;
  const __u64 lost = significand & ((1ULL << by) - 1);
  return significand >> by | (lost != 0);
}

NIC_INLINE __u64 nic_add_finite(__u64 a, __u64 b, int fraction, int exponent_bits) {
  const __u64 sign = nic_sign_bit(fraction, exponent_bits);
  const int is_swapped = nic_magnitude(a, fraction, exponent_bits) < nic_magnitude(b, fraction, exponent_bits);
  const __u64 greater = is_swapped ? b : a;
  const __u64 lesser = is_swapped ? a : b;
  const __u64 greater_magnitude = nic_magnitude(greater, fraction, exponent_bits);
  const __u64 lesser_magnitude = nic_magnitude(lesser, fraction, exponent_bits);
  __u64 exponent = nic_exponent(greater_magnitude, fraction);
  const __u64 one = nic_significand(greater_magnitude, fraction);
  const __u64 other = nic_shifted_right(nic_significand(lesser_magnitude, fraction),
                                        exponent - nic_exponent(lesser_magnitude, fraction));
  __u64 result;
  if (((a ^ b) & sign) == 0) {
    result = one + other;
    if (result >> (fraction + 4) != 0) {
      result = nic_shifted_right(result, 1);
      ++exponent;
    }
  } else {
    if (one == other) return 0; /* positive, when rounding to nearest */
    result = nic_normalized(one - other, &exponent, fraction);
  }
  return nic_rounded(result, exponent, fraction, exponent_bits) | (greater & sign);
}

NIC_INLINE __u64 nic_add_floating(__u64 a, __u64 b, int fraction, int exponent) {
  const __u64 infinity = nic_infinity(fraction, exponent);
  const __u64 quiet = 1ULL << (fraction - 1);
  const __u64 a_magnitude = nic_magnitude(a, fraction, exponent);
  const __u64 b_magnitude = nic_magnitude(b, fraction, exponent);
  if (a_magnitude > infinity) return a | quiet;
  if (b_magnitude > infinity) return b | quiet;
  if (a_magnitude == infinity && b_magnitude == infinity && a != b)
    return nic_sign_bit(fraction, exponent) | infinity | quiet;
  if (a_magnitude == infinity) return a;
  if (b_magnitude == infinity) return b;
  return nic_add_finite(a, b, fraction, exponent);
}

/* Never where one of them is a NaN. */
NIC_INLINE int nic_is_less_floating(__u64 a, __u64 b, int fraction, int exponent) {
  const __u64 infinity = nic_infinity(fraction, exponent);
  const __u64 sign = nic_sign_bit(fraction, exponent);
  const __u64 a_magnitude = nic_magnitude(a, fraction, exponent);
  const __u64 b_magnitude = nic_magnitude(b, fraction, exponent);
  if (a_magnitude > infinity || b_magnitude > infinity) return 0;
  if ((a & sign) == 0) return (b & sign) == 0 && a_magnitude < b_magnitude;
  return (b & sign) == 0 ? (a_magnitude | b_magnitude) != 0 : b_magnitude < a_magnitude;
}

#endif
