// SPDX-License-Identifier: BSD-3-Clause
// Room for packed data, kept by a thread from call to call unless it has become large.
//
// Thread safety: one thread.
#pragma once

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
      room_.reset();
      capacity_ = 0;
      room_.reset(new (std::nothrow) unsigned char[bytes + kAlignment]);
      if (room_ == nullptr) return nullptr;
      capacity_ = bytes;
    }
    if (room_ == nullptr) room_.reset(new (std::nothrow) unsigned char[kAlignment]);
    const auto address = reinterpret_cast<uintptr_t>(room_.get());
    return room_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }

  void trim() {
    if (capacity_ <= kLargestKept) return;
    room_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr size_t kAlignment = 64;
  static constexpr size_t kLargestKept = size_t{4} << 20;
  std::unique_ptr<unsigned char[]> room_;
  size_t capacity_ = 0;
};

}  // namespace hocket::interposer
