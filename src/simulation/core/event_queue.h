// SPDX-License-Identifier: BSD-3-Clause
// What is to happen, by time: a radix heap, which serves keys that never lie before the last one that it gave.
//
// An entry lies in the bucket of the highest bit in which its time differs from the current one. When all entries of
// the current time are gone, the lowest bucket that is not empty is dealt out to those below it, so that each entry
// moves 64 times at most, a few times in practice, and always from one end of an array to another's: a million entries
// cost hardly more than a thousand do. Source: Ahuja, Mehlhorn, Orlin, Tarjan, Faster Algorithms for the Shortest Path
// Problem, Journal of the ACM 37 (1990), in the form with one bucket a bit.
//
// Entries of the same time come out in the order in which they went in, so that what follows from them is the same in
// each run.
//
// Thread safety: none.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assertion.h"
#include "simulation/core/time.h"

namespace hocket::simulation {

// `Event`: a small value.
template <typename Event>
class EventQueue {
 public:
  struct Entry {
    Time time;
    Event event;
  };

  bool is_empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The time of the entry that was taken last.
  Time now() const { return now_; }

  // `time`: not before now().
  void push(Time time, const Event& event) {
    HOCKET_ASSERT(time >= now_, "an event lies before the last one");
    buckets_[bucket_of(time)].push_back({time, event});
    ++size_;
  }

  // The first; there must be one.
  Entry pop() {
    return pop([](const Event&, size_t) {});
  }
  // Entries are announced some time before they are first, so that what they are about may be fetched from memory:
  // `announce(event, distance)`, after fewer than `distance` others, often more than once.
  template <typename Announce>
  Entry pop(const Announce& announce) {
    if (next_ == buckets_[0].size()) deal(announce);
    --size_;
    return buckets_[0][next_++];
  }
  // Fewer than that, but more than the nearest: sooner would be forgotten again, later is too late.
  static constexpr size_t kFarthest = 1024;
  static constexpr size_t kNearest = 16;

 private:
  static constexpr size_t kBuckets = 65;  // one for the current time, one for each bit

  size_t bucket_of(Time time) const { return static_cast<size_t>(std::bit_width(time ^ now_)); }

  template <typename Announce>
  void deal(const Announce& announce) {
    buckets_[0].clear();
    next_ = 0;
    size_t first = 1;
    while (buckets_[first].empty()) ++first;
    std::vector<Entry>& from = buckets_[first];
    now_ = from.front().time;
    for (const Entry& entry : from) now_ = entry.time < now_ ? entry.time : now_;
    for (const Entry& entry : from) buckets_[bucket_of(entry.time)].push_back(entry);
    if (from.size() > kNearest && from.size() <= kFarthest)
      for (const Entry& entry : from) announce(entry.event, from.size());
    from.clear();
  }

  std::array<std::vector<Entry>, kBuckets> buckets_;
  size_t next_ = 0;  // in bucket 0
  size_t size_ = 0;
  Time now_ = 0;
};

}  // namespace hocket::simulation
