// SPDX-License-Identifier: BSD-3-Clause
// Memory that other processes on this node can map: one anonymous file (memfd) a context, with an allocator.
//
// The owner's mapping grows where it is: an address in it is (base + offset) for good. Peers map what they come to
// need of it, and what is mapped once stays mapped. Pages are claimed with fallocate before they are handed out, so
// that memory that isn't there is an error and never SIGBUS; but for sparse blocks of a memfd.
// No name exists in any file system: nothing can be left behind.
//
// Thread safety: allocate, free and contains may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "platform/memory/common_files.h"
#include "platform/memory/growing_mapping.h"

namespace hocket::platform {

class SharedRegion {
 public:
  // `limit` bytes is how far it may grow; 0: HOCKET_MEMORY, or a default from the machine's memory.
  static Result<std::shared_ptr<SharedRegion>> create(size_t limit);
  ~SharedRegion();

  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  std::byte* base() const { return base_; }
  size_t limit() const { return limit_; }
  int descriptor() const { return descriptor_; }
  // Says how many ranks map each other's memory, and the narrowest of their limits (0: they have none). Where addresses
  // are limited and no size was asked for, this decides how far the region grows.
  void share_among(uint32_t ranks, uint64_t least_limit = 0);
  // This process's limit of addresses when that was last looked at, in bytes; 0: none.
  uint64_t known_limit() const;

  // Zeroed memory, aligned to `alignment` (a power of two, 64 at least, 2 MiB at most), or nullptr when there is no
  // more. Blocks up to kPopulateBytes come with their pages mapped, so that the first call pays for no page faults.
  void* allocate(size_t bytes, size_t alignment = 64);
  // The same without pages until they are touched: for what is long and of which little may ever be used. In a file
  // system that may have no more of them by then, and where the kernel doesn't take pages back, as allocate().
  void* allocate_sparse(size_t bytes);
  // Keeps so much from being allocated otherwise, and makes sure that it could be had now. False: it can't.
  bool promise(size_t bytes);
  // Of what was promised: it is allocated next, or not needed any more.
  void redeem(size_t bytes);
  // Pages are not given back to the system before the region goes; they are reused. False, and nothing done, if
  // `memory` is not what allocate gave (nullptr included).
  bool free(void* memory);
  bool contains(const void* memory, size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(memory);
    // Relaxed: a thread that has memory of the region knows of at least as much.
    const std::byte* end = base_ + mapped_.load(std::memory_order_relaxed);
    return at >= base_ && at < end && bytes <= static_cast<size_t>(end - at);
  }
  uint64_t offset_of(const void* memory) const {
    return static_cast<uint64_t>(static_cast<const std::byte*>(memory) - base_);
  }

  static constexpr size_t kPopulateBytes = size_t{4} << 20;
  // Mapped at first, here and by peers, unless the limit is less.
  static constexpr size_t kFirstBytes = size_t{8} << 20;

  // Memory that peers map though it isn't this region's.
  CommonFiles& common_files() { return common_files_; }

 private:
  SharedRegion() = default;
  struct Allocator;
  // The allocator is locked.
  std::optional<uint64_t> take(size_t bytes, size_t alignment);
  bool give_back(uint64_t offset);
  Status grow(size_t bytes, size_t alignment);
  Status map_to(uint64_t end);
  // Says so once.
  void refuse(const Status& why);
  Status limit_reached() const;
  GrowingMapping mapping_;
  std::byte* base_ = nullptr;
  std::atomic<size_t> mapped_{0};
  size_t limit_ = 0;
  bool is_limit_given_ = false;
  int descriptor_ = -1;
  std::unique_ptr<Allocator> allocator_;
  CommonFiles common_files_{*this};
};

// A peer's region, mapped here as far as it has been needed. In the same process it is the owner's own mapping, kept
// alive.
//
// Thread safety: any thread.
class MappedRegion {
 public:
  // Takes ownership of the descriptor, which is closed once mapped, and on failure too.
  static Result<std::shared_ptr<MappedRegion>> map(int descriptor, size_t limit);
  static std::shared_ptr<MappedRegion> same_process(std::shared_ptr<SharedRegion> region);
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;

  // Where offsets below `end`, at least, are mapped. What it gave before holds as long as the region.
  Result<Window> reach(uint64_t end);
  // As far as it was mapped at first.
  std::byte* base() const { return base_; }
  size_t limit() const { return limit_; }

 private:
  MappedRegion() = default;
  std::mutex mutex_;  // for:
  GrowingMapping mapping_;
  std::byte* base_ = nullptr;
  size_t limit_ = 0;
  std::shared_ptr<SharedRegion> owner_;
};

// Maps the pages of memory in a region now rather than at first touch, which costs a fault a page. The memory must
// have been allocated by its owner. Contents are untouched. Best effort: where the kernel can't, faults come later.
void populate(const void* memory, size_t bytes);

}  // namespace hocket::platform
