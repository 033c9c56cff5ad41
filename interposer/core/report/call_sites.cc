// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/call_sites.h"

namespace hocket::interposer {
namespace {

constexpr int kCollectiveBits = 8;
static_assert(kCollectives < 1 << kCollectiveBits);
// A program's addresses leave the upper byte free. Not 0 for any collective of a known place.
uint64_t key_of(const CallSite& call) {
  if (call.address == nullptr) return 0;
  return reinterpret_cast<uint64_t>(call.address) << kCollectiveBits | static_cast<uint64_t>(call.collective);
}

}  // namespace

CallSites::Slot& CallSites::slot_of(uint64_t key) {
  Slot& rest = slots_[kMost];
  if (key == 0) return rest;
  // Fibonacci hashing: the upper bits of the product depend on all bits of the key.
  size_t place = (key * 0x9e3779b97f4a7c15U) >> 32;
  for (size_t looked_at = 0; looked_at < kMost; ++looked_at, ++place) {
    Slot& slot = slots_[place % kMost];
    // Relaxed: the numbers order nothing, and are read when all calls are over.
    uint64_t there = slot.key.load(std::memory_order_relaxed);
    if (there == 0 && slot.key.compare_exchange_strong(there, key, std::memory_order_relaxed)) return slot;
    if (there == key) return slot;
  }
  return rest;
}

void CallSites::add(const CallSite& call) {
  Slot& slot = slot_of(key_of(call));
  // Relaxed: as above.
  slot.calls.fetch_add(1, std::memory_order_relaxed);
  slot.ns.fetch_add(call.ns, std::memory_order_relaxed);
  if (call.waited_ns != 0) slot.waited_ns.fetch_add(call.waited_ns, std::memory_order_relaxed);
}

std::vector<CallSite> CallSites::read() const {
  std::vector<CallSite> sites;
  for (const Slot& slot : slots_) {
    // Relaxed: as above.
    CallSite site;
    site.calls = slot.calls.load(std::memory_order_relaxed);
    if (site.calls == 0) continue;
    site.ns = slot.ns.load(std::memory_order_relaxed);
    site.waited_ns = slot.waited_ns.load(std::memory_order_relaxed);
    const uint64_t key = slot.key.load(std::memory_order_relaxed);
    site.address = reinterpret_cast<const void*>(key >> kCollectiveBits);  // NOLINT(performance-no-int-to-ptr)
    site.collective = static_cast<Collective>(key & ((1U << kCollectiveBits) - 1));
    sites.push_back(site);
  }
  return sites;
}

}  // namespace hocket::interposer
