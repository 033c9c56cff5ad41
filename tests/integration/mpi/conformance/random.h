// SPDX-License-Identifier: BSD-3-Clause
// Numbers that are the same on all ranks: everything about a case follows from its seed, by hashing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace conformance {

constexpr uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr uint64_t hash(uint64_t a, uint64_t b = 0, uint64_t c = 0) { return mix(mix(mix(a) ^ b) ^ c); }

class Random {
 public:
  explicit Random(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_++); }
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool chance(unsigned in_hundred) { return below(100) < in_hundred; }
  template <class T, size_t kCount>
  T any(const T (&values)[kCount]) {
    return values[below(kCount)];
  }

 private:
  uint64_t state_;
};

}  // namespace conformance
