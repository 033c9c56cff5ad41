// SPDX-License-Identifier: BSD-3-Clause
// Whether ranks should read each other's memory directly (CMA): tried and timed when a communicator is made.
//
// Thread safety: one object by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/memory/shared_region.h"

namespace hocket::communicator {

// Memory of this process that peers read for a trial. Must live until all have tried.
class CrossMemoryTrial {
 public:
  enum class Wish : uint8_t { kAutomatic, kOn, kOff };  // HOCKET_CMA

  // `mark` stands at the memory's beginning: readers see by it that they have read the right process.
  explicit CrossMemoryTrial(uint64_t mark);
  uint64_t address() const { return reinterpret_cast<uintptr_t>(memory_.get()); }

  // "" if reading `address` of `process` works and finds `mark`, else the reason why not.
  static std::string try_reading(int process, uint64_t address, uint64_t mark);
  // "" if reading takes less time than two copies through shared memory, one after the other, would; else the figures.
  std::string time(int process, uint64_t address, platform::SharedRegion& region) const;

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace hocket::communicator
