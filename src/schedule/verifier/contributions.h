// SPDX-License-Identifier: BSD-3-Clause
// The verifier's symbolic values: which ranks' contributions an element is made of.
//
// Values are numbers, equal where the sets are. A run of consecutive ranks, which is what nearly all of them are,
// needs no table; other sets are interned.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace hocket::schedule {

class Contributions {
 public:
  using Id = uint32_t;
  static constexpr Id kUndefined = 0;
  static constexpr Id kPoison = 0xffffffffu;  // came out of something already complained about

  Contributions(uint32_t size, bool ordered, bool idempotent);

  Id of_rank(uint32_t rank) const { return interval(rank, rank + 1); }
  Id of_all() const { return interval(0, size_); }
  Id of_first(uint32_t ranks) const { return interval(0, ranks); }

  // left (op) right. If that can't lead to a right result: kPoison, and `reason` says why.
  Id combine(Id left, Id right, const char*& reason);

  std::string text(Id id) const;  // "ranks 0..3,7"

 private:
  using Bits = std::vector<uint64_t>;

  Id interval(uint32_t low, uint32_t high) const { return 1 + low * (size_ + 1) + high; }
  bool is_interval(Id id) const { return id < first_set_; }
  uint32_t low(Id id) const { return (id - 1) / (size_ + 1); }
  uint32_t high(Id id) const { return (id - 1) % (size_ + 1); }
  Id combine_intervals(Id left, Id right, const char*& reason) const;
  Id combine_sets(Id left, Id right, const char*& reason);
  Bits bits(Id id) const;
  Id intern(const Bits& bits);

  uint32_t size_;
  bool ordered_;
  bool idempotent_;
  Id first_set_;
  std::vector<Bits> sets_;
  std::map<Bits, Id> interned_;
  std::unordered_map<uint64_t, Id> combined_;
};

// What an element of memory holds: element `element` of the vector that the contributions are of.
struct Cell {
  uint32_t element = 0;
  Contributions::Id value = Contributions::kUndefined;

  bool operator==(const Cell&) const = default;
};

}  // namespace hocket::schedule
