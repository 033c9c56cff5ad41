// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/assertion.h"
#include "base/environment.h"
#include "base/log.h"
#include "platform/descriptor.h"
#include "platform/machine/address_limit.h"
#include "platform/memory/block_allocator.h"
#include "platform/memory/memory_file.h"
#include "platform/sanitizer.h"

namespace hocket::platform {
namespace {

constexpr size_t kSmallestLimit = size_t{1} << 20;
constexpr size_t kGrowth = size_t{1} << 20;  // the file grows by this much at least
#ifdef HOCKET_THREAD_SANITIZER
constexpr size_t kLargestDefault = size_t{4} << 30;  // the sanitizer leaves a few TiB of addresses to the program
#else
// Room for 128 peers' regions takes 8 TiB of the 128 TiB of addresses that a process has.
constexpr size_t kLargestDefault = size_t{64} << 30;
#endif
constexpr size_t kLargestAlignment = size_t{2} << 20;  // of blocks
constexpr size_t kLargestLimit = size_t{1} << 40;      // so that even then all of them fit into 47 bits

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// In bytes; 0: no size was asked for.
Result<size_t> asked_limit(size_t asked) {
  if (asked != 0) return asked;
  Result<uint64_t> set = environment::get_size("HOCKET_MEMORY");
  if (!set.is_ok()) return set.take_status();
  if (set.value() != 0 && set.value() < kSmallestLimit)
    return Status(Code::kInvalidArgument, "HOCKET_MEMORY=" + std::to_string(set.value()) + " is less than " +
                                              std::to_string(kSmallestLimit) +
                                              " bytes, with which nothing can be done");
  return static_cast<size_t>(set.value());
}

Result<GrowingMapping> map_beginning(int descriptor, size_t most) {
  for (size_t first = std::min(most, SharedRegion::kFirstBytes);; first = round_up(first / 2, page_size())) {
    Result<GrowingMapping> mapped = GrowingMapping::map(descriptor, first, most);
    if (mapped.is_ok() || first <= kSmallestLimit) return mapped;
  }
}

}  // namespace

struct SharedRegion::Allocator {
  std::mutex mutex;
  BlockAllocator blocks;
  uint64_t used_once = 0;  // below this offset memory may hold an earlier user's bytes; above it is still zero
  uint64_t in_use = 0;     // bytes
  uint64_t promised = 0;   // and of what is not in use yet
  bool refusal_logged = false;
  uint32_t ranks = 128;  // that share, as far as is known; as many as that before anything is
  bool are_ranks_known = false;
  uint64_t known_limit = 0;  // of this process, in bytes
  uint64_t least_limit = 0;  // of its peers
};

Result<std::shared_ptr<SharedRegion>> SharedRegion::create(size_t limit) {
  const Result<size_t> asked = asked_limit(limit);
  if (!asked.is_ok()) return Status(asked.status().code(), asked.status().message());
  const size_t chosen = asked.value() != 0 ? asked.value() : std::min<size_t>(memory_budget(), kLargestDefault);
  const size_t most = round_up(std::clamp(chosen, kSmallestLimit, kLargestLimit), page_size());
  Result<int> file = create_memory_file();
  if (!file.is_ok()) return file.take_status();

  std::shared_ptr<SharedRegion> region(new SharedRegion);
  region->descriptor_ = file.value();
  region->allocator_ = std::make_unique<Allocator>();
  region->is_limit_given_ = asked.value() != 0;
  if (const std::optional<AddressLimit> addresses = address_limit()) region->allocator_->known_limit = addresses->bytes;
  Result<GrowingMapping> mapped = map_beginning(region->descriptor_, most);
  if (!mapped.is_ok()) return mapped.take_status();
  region->mapping_ = mapped.take();
  region->base_ = region->mapping_.window().base;
  region->mapped_ = region->mapping_.window().bytes;
  region->limit_ = region->mapping_.most();
  if (region->limit_ < most) {
    HOCKET_LOG_INFO("shared memory is limited to %zu bytes: no room for %zu in this process's addresses",
                    region->limit_, most);
  }
  return region;
}

SharedRegion::~SharedRegion() {
  if (descriptor_ >= 0) close(descriptor_);
}

uint64_t SharedRegion::known_limit() const {
  const std::lock_guard lock(allocator_->mutex);
  return allocator_->known_limit;
}

void SharedRegion::share_among(uint32_t ranks, uint64_t least_limit) {
  const std::lock_guard lock(allocator_->mutex);
  uint64_t& least = allocator_->least_limit;
  if (least_limit != 0) least = least == 0 ? least_limit : std::min(least, least_limit);
  allocator_->ranks = allocator_->are_ranks_known ? std::max(allocator_->ranks, ranks) : ranks;
  allocator_->are_ranks_known = true;
}

// Makes the file longer so that a block that didn't fit does.
Status SharedRegion::grow(size_t bytes, size_t alignment) {
  BlockAllocator& blocks = allocator_->blocks;
  const uint64_t end = blocks.end();
  const uint64_t missing = round_up(blocks.missing(bytes, alignment), page_size());
  if (missing > limit_ - end) {
    return limit_reached();
  }
  HOCKET_TRY(map_to(end + missing));
  const uint64_t wanted = std::min<uint64_t>(std::max<uint64_t>(missing, kGrowth), mapping_.window().bytes - end);
  uint64_t got = wanted;
  Status extended = extend_file(descriptor_, end, end + wanted);
  if (!extended.is_ok() && missing < wanted) {
    got = missing;
    extended = extend_file(descriptor_, end, end + missing);
  }
  if (extended.is_ok()) blocks.grow(got);
  return extended;
}

// A peer that could not map what this rank shares would fail in the middle of a call, so where there is a limit no rank
// takes more than its share of half of it.
Status SharedRegion::map_to(uint64_t end) {
  if (end <= mapping_.window().bytes) return Status::ok();
  uint64_t wanted = mapping_.size_for(end);
  std::optional<AddressLimit> limit = is_limit_given_ ? std::nullopt : address_limit();
  if (limit) allocator_->known_limit = limit->bytes;
  if (const uint64_t least = allocator_->least_limit;
      !is_limit_given_ && least != 0 && (!limit || least < limit->bytes)) {
    limit = {least, "ulimit -v"};  // or -l
  }
  if (limit) {
    const uint64_t share = limit->bytes / 2 / allocator_->ranks / page_size() * page_size();
    if (end > share)
      return {Code::kNoMemory, "Shared memory is limited to " + std::to_string(share) + " bytes: `" + limit->setting +
                                   "` allows " + std::to_string(limit->bytes) + " bytes of addresses, and " +
                                   std::to_string(allocator_->ranks) +
                                   " ranks map each other's; raise it, or set HOCKET_MEMORY"};
    wanted = std::min(wanted, share);
  }
  Status extended = mapping_.extend(wanted);
  if (!extended.is_ok() && end < wanted) extended = mapping_.extend(end);
  // Relaxed: see contains().
  mapped_.store(mapping_.window().bytes, std::memory_order_relaxed);
  return extended;
}

// The allocator is locked.
std::optional<uint64_t> SharedRegion::take(size_t bytes, size_t alignment) {
  BlockAllocator& blocks = allocator_->blocks;
  if (bytes > limit_ || allocator_->in_use + allocator_->promised > limit_ - bytes) {
    refuse(limit_reached());
    return std::nullopt;
  }
  std::optional<uint64_t> taken = blocks.take(bytes, alignment);
  if (!taken) {
    if (const Status grown = grow(bytes, alignment); !grown.is_ok()) refuse(grown);
    taken = blocks.take(bytes, alignment);
  }
  if (taken) allocator_->in_use += bytes;
  return taken;
}

void SharedRegion::refuse(const Status& why) {
  if (!std::exchange(allocator_->refusal_logged, true)) HOCKET_LOG_WARN("%s", why.message());
}

Status SharedRegion::limit_reached() const {
  return {Code::kNoMemory, "Shared memory is limited to " + std::to_string(limit_) + " bytes (HOCKET_MEMORY)"};
}

void* SharedRegion::allocate(size_t bytes, size_t alignment) {
  alignment = std::max<size_t>(alignment, BlockAllocator::kGranule);
  if (!std::has_single_bit(alignment) || bytes > limit_ || alignment > kLargestAlignment) return nullptr;
  const size_t whole = round_up(std::max<size_t>(bytes, 1), BlockAllocator::kGranule);
  uint64_t offset = 0;
  uint64_t dirty = 0;  // bytes of the block that were used before
  {
    const std::lock_guard lock(allocator_->mutex);
    const std::optional<uint64_t> taken = take(whole, alignment);
    if (!taken) return nullptr;
    offset = *taken;
    if (offset < allocator_->used_once) dirty = std::min(whole, allocator_->used_once - offset);
    allocator_->used_once = std::max(allocator_->used_once, offset + whole);
  }
  std::byte* memory = base_ + offset;
  if (dirty > 0) std::memset(memory, 0, dirty);
  if (whole <= kPopulateBytes) populate(memory + dirty, whole - dirty);
  return memory;
}

void* SharedRegion::allocate_sparse(size_t bytes) {
  const size_t whole = round_up(std::max<size_t>(bytes, 1), page_size());
  // Only a memory file of the kernel's own has it; others may be on a file system that is too small.
  const int seals = fcntl(descriptor_, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || whole > limit_) return allocate(bytes);
  uint64_t offset = 0;
  {
    const std::lock_guard lock(allocator_->mutex);
    const std::optional<uint64_t> taken = take(whole, page_size());
    if (!taken) return nullptr;
    offset = *taken;
    allocator_->used_once = std::max(allocator_->used_once, offset + whole);
  }
  if (madvise(base_ + offset, whole, MADV_REMOVE) != 0) std::memset(base_ + offset, 0, whole);
  return base_ + offset;
}

bool SharedRegion::promise(size_t bytes) {
  const std::lock_guard lock(allocator_->mutex);
  const size_t whole = round_up(bytes, BlockAllocator::kGranule);
  const std::optional<uint64_t> taken = take(whole, BlockAllocator::kGranule);
  if (!taken) return false;
  give_back(*taken);
  allocator_->promised += bytes;
  return true;
}

void SharedRegion::redeem(size_t bytes) {
  const std::lock_guard lock(allocator_->mutex);
  HOCKET_ASSERT(bytes <= allocator_->promised, "what is redeemed was promised");
  allocator_->promised -= bytes;
}

bool SharedRegion::give_back(uint64_t offset) {
  const uint64_t bytes = allocator_->blocks.give_back(offset);
  allocator_->in_use -= bytes;
  return bytes != 0;
}

bool SharedRegion::free(void* memory) {
  if (!contains(memory, 1)) return false;
  const std::lock_guard lock(allocator_->mutex);
  return give_back(offset_of(memory));
}

Result<std::shared_ptr<MappedRegion>> MappedRegion::map(int descriptor, size_t limit) {
  const Descriptor closes(descriptor);
  struct stat about{};
  const bool is_file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  if (!is_file || limit == 0 || limit > kLargestLimit) {
    return Status(Code::kInvalidArgument, "A peer's shared memory is not a file of a sensible size");
  }
  std::shared_ptr<MappedRegion> region(new MappedRegion);
  Result<GrowingMapping> mapped = map_beginning(descriptor, round_up(limit, page_size()));
  if (!mapped.is_ok()) return mapped.take_status();
  region->mapping_ = mapped.take();
  region->base_ = region->mapping_.window().base;
  region->limit_ = limit;
  return region;
}

std::shared_ptr<MappedRegion> MappedRegion::same_process(std::shared_ptr<SharedRegion> owner) {
  std::shared_ptr<MappedRegion> region(new MappedRegion);
  region->base_ = owner->base();
  region->limit_ = owner->limit();
  region->owner_ = std::move(owner);
  return region;
}

Result<Window> MappedRegion::reach(uint64_t end) {
  if (end > limit_)
    return Status(Code::kInvalidArgument,
                  "A peer's shared memory ends at " + std::to_string(limit_) + " bytes, before " + std::to_string(end));
  if (owner_ != nullptr) return Window{base_, limit_};  // the owner has mapped everything that it announces
  const std::lock_guard lock(mutex_);
  if (end > mapping_.window().bytes) {
    // Where it began without room to grow, that is less than `end`.
    // More than is needed, but where addresses are limited: then the owner keeps to its share of them, and so must
    // this.
    const size_t wanted = address_limit() ? round_up(end, page_size()) : mapping_.size_for(end);
    Status extended = wanted >= end ? mapping_.extend_or_move(wanted) : Status::ok();
    if (mapping_.window().bytes < end) extended = mapping_.extend_or_move(round_up(end, page_size()));
    if (!extended.is_ok()) return extended;
  }
  return mapping_.window();
}

void populate(const void* memory, size_t bytes) {
  if (bytes == 0) return;
  const uintptr_t page = page_size();
  const uintptr_t from = reinterpret_cast<uintptr_t>(memory) / page * page;
  const uintptr_t to = round_up(reinterpret_cast<uintptr_t>(memory) + bytes, page);
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14
#endif
  madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE);
}

}  // namespace hocket::platform
