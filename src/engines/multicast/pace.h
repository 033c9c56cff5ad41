// SPDX-License-Identifier: BSD-3-Clause
// How fast fragments may follow each other, and how long a root holds its multicast back: both go by what receivers
// report to have missed.
//
// Thread safety: one thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace hocket::engines::multicast {

// What a receiver tells the sender, as it goes over the wire.
struct PaceReport {
  uint32_t expected = 0;  // fragments since its last report
  uint32_t missed = 0;    // of these
};

// A bucket of `burst` bytes that fills at a rate: what receivers surely have room for may go at once, what comes behind
// it at the rate at which they have been able to take it. Of `at_a_time` ranks that multicast at once each has its
// share of both, but of the rate no less than the slowest: misses may be another's doing, and all wait for each.
class Pace {
 public:
  static constexpr double kSlowest = 10;  // bytes a microsecond
  static constexpr double kFastest = 10'000;

  explicit Pace(uint64_t burst) : burst_(std::max<uint64_t>(burst, 1)) {}

  bool may_send(int64_t now_ns) const { return static_cast<double>(due_ns_ - now_ns) <= burst_ns(); }
  void sent(int64_t now_ns, uint64_t bytes, uint32_t at_a_time = 1) {
    const double share = std::max(rate_ / at_a_time, kSlowest);
    due_ns_ = std::max(due_ns_, now_ns) + static_cast<int64_t>(static_cast<double>(bytes) * 1000 / share);
  }
  // What may be sent by one call; alone as much as is liked.
  uint64_t at_once(uint32_t at_a_time) const { return at_a_time <= 1 ? ~uint64_t{0} : burst_ / at_a_time; }
  // Misses of an eighth and more halve the rate, any other report raises it by an eighth.
  void receive(const PaceReport& report) {
    if (report.expected == 0) return;
    const bool overruns = uint64_t{report.missed} * 8 >= report.expected;
    rate_ = std::clamp(overruns ? rate_ / 2 : rate_ * 9 / 8, kSlowest, kFastest);
  }
  double bytes_per_us() const { return rate_; }

 private:
  double burst_ns() const { return static_cast<double>(burst_) * 1000 / rate_; }

  uint64_t burst_;
  double rate_ = 1000;
  int64_t due_ns_ = 0;
};

// A root's delay that adapts: doubled where receivers miss more than a quarter, and else slowly given up.
class AdaptiveDelay {
 public:
  static constexpr int64_t kLeastNs = 2'000;
  static constexpr int64_t kMostNs = 1'000'000;

  int64_t ns() const { return ns_; }
  void receive(const PaceReport& report) {
    if (report.expected == 0) return;
    const bool misses = uint64_t{report.missed} * 4 > report.expected;
    ns_ = misses ? std::clamp(ns_ * 2, kLeastNs, kMostNs) : ns_ * 7 / 8;
    if (ns_ < kLeastNs) ns_ = 0;
  }

 private:
  int64_t ns_ = 0;
};

}  // namespace hocket::engines::multicast
