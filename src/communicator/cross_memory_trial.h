// SPDX-License-Identifier: BSD-3-Clause
// Whether ranks should read each other's memory directly (CMA): tried and timed when a communicator is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/shared_region.h"

namespace hocket::communicator {

// Memory of this process that peers read for a trial. Must live until all have tried.
class CrossMemoryTrial {
 public:
  enum class Wish : uint8_t { kAutomatic, kOn, kOff };  // HOCKET_CMA

  CrossMemoryTrial();
  uint64_t address() const { return reinterpret_cast<uintptr_t>(memory_.get()); }

  // "" if reading `address` of `process` works, and, unless it is wished for, takes less time than two copies through
  // `staging`, one after the other, would; else the reason against it.
  std::string judge(Wish wish, int process, uint64_t address, platform::SharedRegion& region) const;

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace hocket::communicator
