// SPDX-License-Identifier: BSD-3-Clause
// Tags of the wire for communicators. Two communicators that share a pair of processes must not share a tag, though
// these may set them up at the same time and in different orders. So a communicator's tags come from its rank 0, whose
// number on the wire is part of them.
//
// Where the wire has enough, each track has several, of which a call takes one that its own and all earlier calls
// decide (Channel::mark): messages of ranks that are in different calls don't meet.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/assertion.h"
#include "engines/shared_memory/layout.h"
#include "engines/wire/wire.h"

namespace hocket::communicator {

// One for each track at least, and one for reports beside the calls (node_report.h).
inline constexpr uint32_t kLeastTags = engines::shared_memory::kLanes + 1;

class Tags {
 public:
  explicit Tags(const engines::wire::Wire& wire)
      : rank_(wire.rank()),
        size_(std::max(wire.size(), 1u)),
        marks_(marks_where(wire.tags() / size_)),
        stride_(engines::shared_memory::kLanes * marks_ + 1),
        most_(wire.tags() / stride_ / size_) {}

  // How many each track has; a power of two. The same in every process whose wire has as many.
  uint32_t marks() const { return marks_; }
  // That of reports, of a communicator with the first tag `tag`.
  uint32_t reports(uint32_t tag) const { return tag + stride_ - 1; }

  // The first of the communicator's tags; nullopt: all are in use. Those that were given back last are taken last:
  // where a peer has several threads, one may still be about to leave the old communicator while another opens the new
  // one.
  std::optional<uint32_t> take() {
    const std::scoped_lock lock(mutex_);
    uint32_t number = find_free(std::min(most_, kUsualRange));
    if (number == kNone) number = find_free(most_);
    if (number == kNone) return std::nullopt;
    if (number >= in_use_.size()) in_use_.resize(number + 1);
    in_use_[number] = true;
    next_ = number + 1;
    return (number * size_ + rank_) * stride_;
  }
  // Nothing is under way with them any more.
  void give_back(uint32_t tag) {
    const std::scoped_lock lock(mutex_);
    HOCKET_ASSERT(tag / stride_ / size_ < in_use_.size() && in_use_[tag / stride_ / size_], "a tag is given back once");
    in_use_[tag / stride_ / size_] = false;
  }

 private:
  static constexpr uint32_t kUsualRange = 1 << 12;  // so that no rank keeps account of millions
  static constexpr uint32_t kMostMarks = 1 << 8;
  static constexpr uint32_t kNone = UINT32_MAX;

  // As many as leave a process its usual range.
  static uint32_t marks_where(uint32_t tags) {
    uint32_t marks = kMostMarks;
    while (marks > 1 && tags / (engines::shared_memory::kLanes * marks + 1) < kUsualRange) marks /= 2;
    return marks;
  }

  uint32_t find_free(uint32_t range) const {
    for (uint32_t tried = 0; tried < range; ++tried) {
      const uint32_t number = (next_ + tried) % range;
      if (number >= in_use_.size() || !in_use_[number]) return number;
    }
    return kNone;
  }

  const uint32_t rank_;
  const uint32_t size_;
  const uint32_t marks_;
  const uint32_t stride_;
  const uint32_t most_;
  std::mutex mutex_;
  std::vector<bool> in_use_;
  uint32_t next_ = 0;  // the search begins there
};

}  // namespace hocket::communicator
