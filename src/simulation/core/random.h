// SPDX-License-Identifier: BSD-3-Clause
// Random numbers that are functions of a seed, a purpose and a number: whoever asks, in whatever order, gets the same.
//
// The mixing function is that of SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014).
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace hocket::simulation {

// What a number is drawn for: each purpose has a sequence of its own.
enum class Purpose : uint64_t { kSkew = 1, kNoise, kLoss, kMulticastLoss, kPlacement, kOrder };

inline uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

// `number`: which one of the purpose's, `further`: a second one, if one is not enough.
inline uint64_t random_bits(uint64_t seed, Purpose purpose, uint64_t number, uint64_t further = 0) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
  uint64_t state = mixed(seed + kGolden * static_cast<uint64_t>(purpose));
  state = mixed(state + kGolden * (number + 1));
  return mixed(state + kGolden * (further + 1));
}

// From 0 up to 1, which it never is.
inline double random_fraction(uint64_t seed, Purpose purpose, uint64_t number, uint64_t further = 0) {
  return static_cast<double>(random_bits(seed, purpose, number, further) >> 11) * 0x1p-53;
}

}  // namespace hocket::simulation
