// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/setup/cross_memory_trial.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "platform/memory/cross_memory.h"

namespace hocket::communicator {
namespace {

constexpr size_t kTrialBytes = 256 * 1024;
constexpr int kTrials = 5;

// The least of a few, since ranks that share cores disturb each other.
template <typename Body>
uint64_t least_ns(const Body& body) {
  uint64_t least = ~uint64_t{0};
  for (int i = 0; i < kTrials; ++i) {
    const uint64_t begin = now_ns();
    body();
    least = std::min(least, now_ns() - begin);
  }
  return least;
}

}  // namespace

CrossMemoryTrial::CrossMemoryTrial(uint64_t mark) : memory_(std::make_unique<std::byte[]>(kTrialBytes)) {
  std::memset(memory_.get(), 1, kTrialBytes);
  std::memcpy(memory_.get(), &mark, sizeof mark);
}

std::string CrossMemoryTrial::try_reading(int process, uint64_t address, uint64_t mark) {
  uint64_t found = 0;
  const Status tried =
      platform::read_process_memory(process, reinterpret_cast<const void*>(address), &found, sizeof found);
  if (!tried.is_ok()) return tried.message();
  return found == mark ? "" : "process " + std::to_string(process) + " is another one here: process ids differ";
}

std::string CrossMemoryTrial::time(int process, uint64_t address, platform::SharedRegion& region) const {
  const auto local = std::make_unique<std::byte[]>(kTrialBytes);
  const auto* remote = reinterpret_cast<const void*>(address);
  auto* staging = static_cast<std::byte*>(region.allocate(kTrialBytes));
  if (staging == nullptr) return "no memory to time it";
  const uint64_t direct_ns =
      least_ns([&] { (void)platform::read_process_memory(process, remote, local.get(), kTrialBytes).is_ok(); });
  const uint64_t copy_ns = least_ns([&] {
    std::memcpy(staging, memory_.get(), kTrialBytes);
    std::memcpy(local.get(), staging, kTrialBytes);
  });
  region.free(staging);
  if (direct_ns < copy_ns) return "";
  return "reading 256 KiB takes " + std::to_string(direct_ns / 1000) + " us, two copies " +
         std::to_string(copy_ns / 1000) + " us";
}

}  // namespace hocket::communicator
