// SPDX-License-Identifier: BSD-3-Clause
// Room for packed data, kept by a thread from call to call. The pages of a large one are the kernel's to take between
// calls if it needs them: to give them back each time would cost more, in page faults, than most calls.
//
// Thread safety: one thread.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace hocket::interposer {

class Scratch {
 public:
  // Aligned for any element; nullptr when there is no memory. Earlier contents are lost.
  unsigned char* reserve(size_t bytes) {
    if (bytes > capacity_) {
      free();
      room_.reset(new (std::nothrow) unsigned char[bytes + kAlignment]);
      if (room_ == nullptr) return nullptr;
      capacity_ = bytes;
    }
    if (room_ == nullptr) room_.reset(new (std::nothrow) unsigned char[kAlignment]);
    used_ = std::max(used_, bytes);
    const auto address = reinterpret_cast<uintptr_t>(room_.get());
    return room_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }

  // The contents are not needed any more.
  void trim() {
    const size_t used = used_;
    used_ = 0;
    if (used <= kLargestResident) return;
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<uintptr_t>(room_.get());
    const uintptr_t first = (address + page - 1) / page * page;
    const uintptr_t last = (address + used) / page * page;
    if (madvise(reinterpret_cast<void*>(first), last - first, MADV_FREE) != 0) free();
  }

 private:
  void free() {
    room_.reset();
    capacity_ = used_ = 0;
  }

  static constexpr size_t kAlignment = 64;
  static constexpr size_t kLargestResident = size_t{32} << 20;
  std::unique_ptr<unsigned char[]> room_;
  size_t capacity_ = 0;
  size_t used_ = 0;  // since the last trim
};

}  // namespace hocket::interposer
