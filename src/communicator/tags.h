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

// One for each track, and one for notices of failure.
inline constexpr uint32_t kTagsOfCommunicator = engines::shared_memory::kLanes + 1;

class Tags {
 public:
  explicit Tags(const engines::wire::Wire& wire)
      : rank_(wire.rank()),
        size_(std::max(wire.size(), 1u)),
        most_(wire.tags() / kTagsOfCommunicator / std::max(wire.size(), 1u)) {}

  // The first of the communicator's tags; nullopt: all are in use.
  std::optional<uint32_t> take() {
    const std::scoped_lock lock(mutex_);
    const auto free = std::find(in_use_.begin(), in_use_.end(), false);
    const auto number = static_cast<uint32_t>(free - in_use_.begin());
    if (number >= most_) return std::nullopt;
    if (free == in_use_.end())
      in_use_.push_back(true);
    else
      *free = true;
    return (number * size_ + rank_) * kTagsOfCommunicator;
  }
  // Nothing is under way with them any more.
  void give_back(uint32_t tag) {
    const std::scoped_lock lock(mutex_);
    in_use_[tag / kTagsOfCommunicator / size_] = false;
  }

 private:
  const uint32_t rank_;
  const uint32_t size_;
  const uint32_t most_;
  std::mutex mutex_;
  std::vector<bool> in_use_;
};

}  // namespace hocket::communicator
