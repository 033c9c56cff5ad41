// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/growing_mapping.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace hocket::platform {
namespace {

constexpr size_t kAlignment = size_t{2} << 20;  // so that blocks can be aligned to huge pages

constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kShared = MAP_SHARED | MAP_NORESERVE;

Status mapping_failed(size_t bytes, const char* call, int error) {
  const Status plain = Status::system_call("Mapping " + std::to_string(bytes) + " bytes of shared memory", call, error);
  const bool is_locked = error == EAGAIN;
  rlimit limit{};
  const bool is_limited = getrlimit(is_locked ? RLIMIT_MEMLOCK : RLIMIT_AS, &limit) == 0 &&
                          limit.rlim_cur != RLIM_INFINITY && (is_locked || error == ENOMEM);
  if (!is_limited) return {plain.code(), plain.message()};
  const std::string allowed = std::to_string(limit.rlim_cur) + " bytes";
  return {Code::kNoMemory,
          plain.message() +
              (is_locked ? "; this process locks its memory, of which it may have " + allowed + ": raise `ulimit -l`"
                         : "; this process may have addresses for " + allowed + ": raise `ulimit -v`")};
}

// Below what is loaded, above heaps that language runtimes place themselves, and out of the address sanitizer's shadow.
// Where a process has fewer addresses the kernel puts the mapping elsewhere.
void* remote_place(size_t room) {
  constexpr uint64_t kFrom = uint64_t{32} << 40, kBytes = uint64_t{32} << 40, kStep = uint64_t{1} << 30;
  static std::atomic<uint64_t> next = [] {
    uint64_t start = 0;
    return getrandom(&start, sizeof start, GRND_NONBLOCK) == sizeof start ? start / kAlignment * kAlignment : 0;
  }();
  // Relaxed: the sum alone keeps the callers' places apart; partners are other calls of this function.
  const uint64_t at = next.fetch_add(round_up(room, kStep), std::memory_order_relaxed);
  return reinterpret_cast<void*>(kFrom + at % kBytes);
}

// The kernel fills gaps from their end, so the beginning of a large one has room for long. But where a gap begins
// another mapping may end that is going to grow, too: half as much as this may need is left to it. `most` becomes what
// room there is.
void* map_in_gap(int descriptor, size_t first, size_t& most) {
  void* gap = MAP_FAILED;
  size_t before = 0;
  for (;; most = std::max(first, round_up(most / 2, kAlignment))) {
    before = most > first + kAlignment ? most / 2 : 0;
    gap = mmap(nullptr, before + most + kAlignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gap != MAP_FAILED || before == 0) break;
  }
  if (gap == MAP_FAILED) return gap;
  const auto start = reinterpret_cast<uintptr_t>(gap), place = round_up(start + before, kAlignment);
  const uintptr_t end = start + before + most + kAlignment;
  void* at = mmap(reinterpret_cast<void*>(place), first, kReadWrite, kShared | MAP_FIXED, descriptor, 0);
  const int error = errno;
  const uintptr_t kept = at != MAP_FAILED ? place + first : place;
  if (place > start) munmap(gap, place - start);
  munmap(reinterpret_cast<void*>(kept), end - kept);
  errno = error;
  return at;
}

}  // namespace

Result<GrowingMapping> GrowingMapping::map(int descriptor, size_t first, size_t most) {
  GrowingMapping made;
  made.most_ = most;
  void* place = remote_place(most);
  void* at = mmap(place, first, kReadWrite, kShared, descriptor, 0);
  if (at != MAP_FAILED && at != place) {
    munmap(at, first);
    at = map_in_gap(descriptor, first, made.most_);
    if (at == MAP_FAILED) {
      made.most_ = first;
      at = mmap(nullptr, first, kReadWrite, kShared, descriptor, 0);
    }
  }
  if (at == MAP_FAILED) return mapping_failed(first, "mmap", errno);
  madvise(at, first, MADV_DONTDUMP);  // peers' memory, which a core dump would bring again and again
  made.window_ = {static_cast<std::byte*>(at), first};
  return made;
}

GrowingMapping::~GrowingMapping() {
  if (window_.base != nullptr) munmap(window_.base, window_.bytes);
  for (const Window& one : earlier_) munmap(one.base, one.bytes);
}

void GrowingMapping::swap(GrowingMapping& other) noexcept {
  std::swap(window_, other.window_);
  std::swap(most_, other.most_);
  std::swap(earlier_, other.earlier_);
}

size_t GrowingMapping::size_for(size_t end) const {
  return std::min(most_, std::max(round_up(end, kAlignment), 2 * window_.bytes));
}

Status GrowingMapping::extend(size_t bytes) {
  // By its last page: the rest may be several mappings by now, as where the program has locked a part of it.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = window_.bytes - page;
  if (mremap(window_.base + before, page, bytes - before, 0) == MAP_FAILED)
    return mapping_failed(bytes, "mremap", errno);
  window_.bytes = bytes;
  return Status::ok();
}

Status GrowingMapping::extend_or_move(size_t bytes) {
  if (extend(bytes).is_ok()) return Status::ok();
  earlier_.reserve(earlier_.size() + 1);
  // Of no bytes: a second mapping of the same, for which no descriptor is needed.
  void* at = mremap(window_.base, 0, bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return mapping_failed(bytes, "mremap", errno);
  earlier_.push_back(std::exchange(window_, {static_cast<std::byte*>(at), bytes}));
  return Status::ok();
}

}  // namespace hocket::platform
