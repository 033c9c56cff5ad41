// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/contributions.h"

#include <algorithm>

namespace hocket::schedule {
namespace {

constexpr const char* kTwice = "uses a contribution twice";
constexpr const char* kOutOfOrder = "combines operands out of rank order";

}  // namespace

Contributions::Contributions(uint32_t size, bool ordered, bool idempotent)
    : size_(size), ordered_(ordered), idempotent_(idempotent), first_set_(1 + (size + 1) * (size + 1)) {}

Contributions::Id Contributions::combine_intervals(Id left, Id right, const char*& reason) const {
  const uint32_t begin = low(left);
  const uint32_t middle = high(left);
  const uint32_t next = low(right);
  const uint32_t end = high(right);
  if (middle == next) return interval(begin, end);
  if (idempotent_ && begin <= next && next < middle) return interval(begin, std::max(middle, end));
  const bool apart = middle < next || end <= begin;
  reason = apart ? kOutOfOrder : kTwice;
  return kPoison;
}

Contributions::Bits Contributions::bits(Id id) const {
  if (!is_interval(id)) return sets_[id - first_set_];
  Bits set((size_ + 63) / 64);
  for (uint32_t rank = low(id); rank < high(id); ++rank) set[rank / 64] |= uint64_t{1} << (rank % 64);
  return set;
}

Contributions::Id Contributions::intern(const Bits& set) {
  const auto has = [&](uint32_t rank) { return (set[rank / 64] >> (rank % 64) & 1) != 0; };
  uint32_t begin = 0;
  while (!has(begin)) ++begin;
  uint32_t end = begin;
  while (end < size_ && has(end)) ++end;
  uint32_t rest = end;
  while (rest < size_ && !has(rest)) ++rest;
  if (rest == size_) return interval(begin, end);
  const auto [found, is_new] = interned_.try_emplace(set, first_set_ + static_cast<Id>(sets_.size()));
  if (is_new) sets_.push_back(set);
  return found->second;
}

Contributions::Id Contributions::combine_sets(Id left, Id right, const char*& reason) {
  if (left > right) std::swap(left, right);
  const uint64_t key = static_cast<uint64_t>(left) << 32 | right;
  if (const auto found = combined_.find(key); found != combined_.end()) return found->second;
  Bits set = bits(left);
  const Bits other = bits(right);
  for (size_t i = 0; i < set.size(); ++i) {
    if ((set[i] & other[i]) != 0 && !idempotent_) {
      reason = kTwice;
      return kPoison;
    }
    set[i] |= other[i];
  }
  const Id result = intern(set);
  combined_.emplace(key, result);
  return result;
}

Contributions::Id Contributions::combine(Id left, Id right, const char*& reason) {
  if (left == kPoison || right == kPoison) return kPoison;
  if (ordered_) return combine_intervals(left, right, reason);
  if (is_interval(left) && is_interval(right)) {
    if (high(left) == low(right)) return interval(low(left), high(right));
    if (high(right) == low(left)) return interval(low(right), high(left));
  }
  return combine_sets(left, right, reason);
}

std::string Contributions::text(Id id) const {
  if (id == kUndefined) return "nothing defined";
  if (id == kPoison) return "something already complained about";
  const Bits set = bits(id);
  std::string list;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    const auto has = [&](uint32_t r) { return r < size_ && (set[r / 64] >> (r % 64) & 1) != 0; };
    if (!has(rank)) continue;
    uint32_t last = rank;
    while (has(last + 1)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(rank);
    if (last > rank) list.append("..").append(std::to_string(last));
    rank = last;
  }
  return (list.find_first_of(",.") == std::string::npos ? "rank " : "ranks ") + list;
}

}  // namespace hocket::schedule
