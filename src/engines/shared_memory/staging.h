// SPDX-License-Identifier: BSD-3-Clause
// Buffers in mapped memory through which data passes that peers can't read where it lies.
//
// Slot buffers are held until every rank has finished the call that filled them; mail buffers until their
// receiver has consumed them. They are taken from the region when first needed and kept: a communicator whose messages
// fit into lines never has any.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/assertion.h"
#include "platform/memory/shared_region.h"

namespace hocket::engines::shared_memory {

struct StagingBuffer {
  std::byte* memory = nullptr;
  uint64_t offset = 0;  // in the region
  uint64_t holder = 0;  // slots: the call; mail: the line's serial. 0: never used
  uint32_t peer = 0;    // mail: the receiver
};

class StagingPool {
 public:
  // The first need takes `first` buffers, each later one a single buffer, up to `limit`. The region has promised the
  // memory of the first.
  StagingPool(platform::SharedRegion& region, uint64_t buffer_bytes, uint32_t first, uint32_t limit)
      : region_(region), buffer_bytes_(buffer_bytes), first_(first), limit_(limit) {
    HOCKET_ASSERT(first <= limit, "a pool begins with no more buffers than it may have");
  }
  ~StagingPool() {
    redeem();
    for (StagingBuffer& buffer : buffers_) region_.free(buffer.memory);
  }
  // Leaves the buffers allocated until the region goes: peers may still use them.
  void abandon() { buffers_.clear(); }
  StagingPool(const StagingPool&) = delete;
  StagingPool& operator=(const StagingPool&) = delete;

  // Fewer than the first could be had: calls that need them all would wait for ever.
  bool is_short_of_memory() const { return has_redeemed_ && buffers_.size() < first_; }

  // A buffer that is free according to `is_free(buffer)`, or nullptr for now.
  template <typename IsFree>
  StagingBuffer* take(const IsFree& is_free) {
    if (!has_redeemed_) [[unlikely]]
      take_first();
    for (size_t i = 0; i < buffers_.size(); ++i) {
      next_ = next_ + 1 < buffers_.size() ? next_ + 1 : 0;
      StagingBuffer& buffer = buffers_[next_];
      if (buffer.holder == 0 || is_free(buffer)) return &buffer;
    }
    return buffers_.size() < limit_ && grow() ? &buffers_.back() : nullptr;
  }

 private:
  void redeem() {
    if (!has_redeemed_) region_.redeem(first_ * buffer_bytes_);
    has_redeemed_ = true;
  }
  void take_first() {
    redeem();
    buffers_.reserve(limit_);
    while (buffers_.size() < first_ && grow()) {
    }
  }
  bool grow() {
    HOCKET_ASSERT(buffers_.size() < limit_, "buffers stay where they are, up to the limit");
    auto* memory = static_cast<std::byte*>(region_.allocate(buffer_bytes_, buffer_bytes_ % 4096 == 0 ? 4096 : 64));
    if (memory == nullptr) return false;
    buffers_.push_back({memory, region_.offset_of(memory), 0, 0});
    return true;
  }

  platform::SharedRegion& region_;
  uint64_t buffer_bytes_;
  uint32_t first_;
  uint32_t limit_;
  bool has_redeemed_ = false;
  size_t next_ = 0;
  std::vector<StagingBuffer> buffers_;
};

}  // namespace hocket::engines::shared_memory
