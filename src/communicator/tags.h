// SPDX-License-Identifier: BSD-3-Clause
// Tags of the wire for communicators. Two communicators that share a pair of processes must not share a tag, though
// these may set them up at the same time and in different orders. So a communicator's tags come from its rank 0, whose
// number on the wire is part of them.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "engines/shared_memory/layout.h"
#include "engines/wire/wire.h"

namespace hocket::communicator {

// One for each track, and one for words beside the calls (word.h).
inline constexpr uint32_t kTagsOfCommunicator = engines::shared_memory::kLanes + 1;

class Tags {
 public:
  explicit Tags(const engines::wire::Wire& wire)
      : rank_(wire.rank()),
        size_(std::max(wire.size(), 1u)),
        most_(wire.tags() / kTagsOfCommunicator / std::max(wire.size(), 1u)) {}

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
    return (number * size_ + rank_) * kTagsOfCommunicator;
  }
  // Nothing is under way with them any more.
  void give_back(uint32_t tag) {
    const std::scoped_lock lock(mutex_);
    in_use_[tag / kTagsOfCommunicator / size_] = false;
  }

 private:
  static constexpr uint32_t kUsualRange = 1 << 12;  // so that nobody keeps account of millions
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t find_free(uint32_t range) const {
    for (uint32_t tried = 0; tried < range; ++tried) {
      const uint32_t number = (next_ + tried) % range;
      if (number >= in_use_.size() || !in_use_[number]) return number;
    }
    return kNone;
  }

  const uint32_t rank_;
  const uint32_t size_;
  const uint32_t most_;
  std::mutex mutex_;
  std::vector<bool> in_use_;
  uint32_t next_ = 0;  // the search begins there
};

}  // namespace hocket::communicator
