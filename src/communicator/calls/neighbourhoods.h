// SPDX-License-Identifier: BSD-3-Clause
// The neighbourhoods of a communicator. Calls name them by numbers, which are the same on all ranks because all ranks
// make them in the same order; none is used again.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "schedule/neighbours.h"

namespace hocket::communicator {

class Neighbourhoods {
 public:
  using Shared = std::shared_ptr<const schedule::Neighbours>;

  uint32_t add(Shared neighbours) {
    kept_.emplace(++last_, std::move(neighbours));
    return last_;
  }
  // nullptr: it is gone.
  Shared find(uint32_t number) const {
    const auto found = kept_.find(number);
    return found == kept_.end() ? nullptr : found->second;
  }
  // Calls that have been started go on.
  void remove(uint32_t number) { kept_.erase(number); }

 private:
  uint32_t last_ = 0;
  std::unordered_map<uint32_t, Shared> kept_;
};

}  // namespace hocket::communicator
