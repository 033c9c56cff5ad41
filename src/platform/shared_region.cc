// SPDX-License-Identifier: BSD-3-Clause
#include "platform/shared_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "platform/block_allocator.h"
#include "platform/memory_file.h"
#include "platform/sanitizer.h"

namespace hocket::platform {
namespace {

constexpr size_t kSmallestLimit = size_t{1} << 20;
constexpr size_t kGrowth = size_t{1} << 20;  // the file grows by this much at least
#ifdef HOCKET_THREAD_SANITIZER
constexpr size_t kLargestDefault = size_t{4} << 30;  // the sanitizer leaves a few TiB of addresses to the program
#else
// 128 peers' regions take 8 TiB of the 128 TiB of addresses that a process has.
constexpr size_t kLargestDefault = size_t{64} << 30;
#endif
constexpr size_t kLargestLimit = size_t{1} << 40;  // so that even then all of them fit into 47 bits

size_t page_size() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// The owner's range starts at a multiple of this, so that blocks can be aligned to huge pages.
constexpr size_t kBaseAlignment = size_t{2} << 20;

// `alignment` of the address: page_size() or kBaseAlignment.
std::byte* reserve(int descriptor, size_t bytes, size_t alignment) {
  const size_t slack = alignment - page_size();
  void* range = mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  const uintptr_t start = reinterpret_cast<uintptr_t>(range);
  const uintptr_t aligned = round_up(start, alignment);
  if (aligned > start) munmap(range, aligned - start);
  if (start + slack > aligned) munmap(reinterpret_cast<void*>(aligned + bytes), start + slack - aligned);
  void* at = mmap(reinterpret_cast<void*>(aligned), bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
  if (at == MAP_FAILED) {
    const int error = errno;
    munmap(reinterpret_cast<void*>(aligned), bytes);
    errno = error;
    return nullptr;
  }
  // A core dump would otherwise walk every page of every peer's range.
  madvise(at, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(at);
}

size_t default_limit() {
  const size_t bytes = std::min<size_t>(memory_budget(), kLargestDefault);
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY) return bytes;
  // Where addresses are scarce (ulimit -v), 128 peers' ranges may take half of them and leave the rest to the program.
  constexpr size_t kShare = 256;
  return std::min<size_t>(bytes, addresses.rlim_cur / kShare);
}

Result<size_t> choose_limit(size_t asked) {
  if (asked == 0) {
    Result<uint64_t> set = environment::get_size("HOCKET_MEMORY");
    if (!set.is_ok()) return set.take_status();
    asked = set.value();
    if (asked != 0 && asked < kSmallestLimit)
      return Status(Code::kInvalidArgument, "HOCKET_MEMORY=" + std::to_string(asked) + " is less than " +
                                                std::to_string(kSmallestLimit) +
                                                " bytes, with which nothing can be done");
  }
  if (asked == 0) asked = default_limit();
  return round_up(std::clamp(asked, kSmallestLimit, kLargestLimit), page_size());
}

}  // namespace

struct SharedRegion::Allocator {
  std::mutex mutex;
  BlockAllocator blocks;
  uint64_t used_once = 0;  // below this offset memory may hold an earlier user's bytes; above it is still zero
  bool refusal_logged = false;

  // Makes the file longer so that a block that didn't fit does.
  Status grow(int descriptor, size_t limit, size_t bytes, size_t alignment) {
    const uint64_t end = blocks.end();
    const uint64_t missing = round_up(blocks.missing(bytes, alignment), page_size());
    if (missing > limit - end) {
      return {Code::kNoMemory, "Shared memory is limited to " + std::to_string(limit) + " bytes (HOCKET_MEMORY)"};
    }
    const uint64_t wanted = std::min<uint64_t>(std::max<uint64_t>(missing, kGrowth), limit - end);
    uint64_t got = wanted;
    Status extended = extend_file(descriptor, end, end + wanted);
    if (!extended.is_ok() && missing < wanted) {
      got = missing;
      extended = extend_file(descriptor, end, end + missing);
    }
    if (extended.is_ok()) blocks.grow(got);
    return extended;
  }
};

Result<std::shared_ptr<SharedRegion>> SharedRegion::create(size_t limit) {
  Result<size_t> chosen = choose_limit(limit);
  if (!chosen.is_ok()) return chosen.take_status();
  Result<int> file = create_memory_file();
  if (!file.is_ok()) return file.take_status();

  std::shared_ptr<SharedRegion> region(new SharedRegion);
  region->descriptor_ = file.value();
  region->allocator_ = std::make_unique<Allocator>();
  for (size_t bytes = chosen.value(); bytes >= kSmallestLimit; bytes = round_up(bytes / 2, page_size())) {
    region->base_ = reserve(region->descriptor_, bytes, kBaseAlignment);
    if (region->base_ == nullptr) continue;
    region->limit_ = bytes;
    if (bytes < chosen.value()) {
      HOCKET_LOG_INFO("shared memory is limited to %zu bytes: no room for %zu in this process's addresses", bytes,
                      chosen.value());
    }
    return region;
  }
  return Status::system("Reserving addresses for shared memory", errno);
}

SharedRegion::~SharedRegion() {
  if (base_ != nullptr) munmap(base_, limit_);
  if (descriptor_ >= 0) close(descriptor_);
}

void* SharedRegion::allocate(size_t bytes, size_t alignment) {
  alignment = std::max<size_t>(alignment, BlockAllocator::kGranule);
  if (!std::has_single_bit(alignment) || bytes > limit_ || alignment > kBaseAlignment) return nullptr;
  const size_t whole = round_up(std::max<size_t>(bytes, 1), BlockAllocator::kGranule);
  uint64_t offset = 0;
  uint64_t dirty = 0;  // bytes of the block that were used before
  {
    const std::lock_guard lock(allocator_->mutex);
    std::optional<uint64_t> taken = allocator_->blocks.take(whole, alignment);
    if (!taken) {
      const Status grown = allocator_->grow(descriptor_, limit_, whole, alignment);
      if (!grown.is_ok()) {
        if (!std::exchange(allocator_->refusal_logged, true)) HOCKET_LOG_WARN("%s", grown.message());
        return nullptr;
      }
      taken = allocator_->blocks.take(whole, alignment);
      if (!taken) return nullptr;
    }
    offset = *taken;
    if (offset < allocator_->used_once) dirty = std::min(whole, allocator_->used_once - offset);
    allocator_->used_once = std::max(allocator_->used_once, offset + whole);
  }
  std::byte* memory = base_ + offset;
  if (dirty > 0) std::memset(memory, 0, dirty);
  if (whole <= kPopulateBytes) populate(memory + dirty, whole - dirty);
  return memory;
}

bool SharedRegion::free(void* memory) {
  if (!contains(memory, 1)) return false;
  const std::lock_guard lock(allocator_->mutex);
  return allocator_->blocks.give_back(offset_of(memory)) != 0;
}

Result<std::shared_ptr<MappedRegion>> MappedRegion::map(int descriptor, size_t limit) {
  std::shared_ptr<MappedRegion> region(new MappedRegion);
  struct stat about{};
  const bool is_file = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  if (is_file && limit > 0 && limit <= kLargestLimit) region->base_ = reserve(descriptor, limit, page_size());
  const int error = errno;
  close(descriptor);
  if (!is_file || limit == 0 || limit > kLargestLimit) {
    return Status(Code::kInvalidArgument, "A peer's shared memory is not a file of a sensible size");
  }
  if (region->base_ == nullptr) {
    return Status::system("Mapping " + std::to_string(limit) +
                              " bytes of a peer's shared memory (HOCKET_MEMORY sets how much it reserves)",
                          error);
  }
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

MappedRegion::~MappedRegion() {
  if (base_ != nullptr && owner_ == nullptr) munmap(base_, limit_);
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
