// SPDX-License-Identifier: BSD-3-Clause
// A file of memory that is mapped twice, as two ranks have a window's.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "platform/memory/memory_file.h"

namespace hocket::platform {

class MappedFile {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;

  // All bytes have this value.
  explicit MappedFile(int value) {
    Result<int> file = create_memory_file();
    EXPECT_TRUE(file.is_ok());
    EXPECT_EQ(ftruncate(file.value(), kBytes), 0);
    one_ = map(file.value());
    other_ = map(file.value());
    close(file.value());
    std::fill_n(one_, kBytes, static_cast<std::byte>(value));
  }
  ~MappedFile() {
    munmap(one_, kBytes);
    munmap(other_, kBytes);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* one() const { return one_; }
  std::byte* other() const { return other_; }

 private:
  // With a page on each side that keeps mappings of neighbours from becoming one.
  static std::byte* map(int file) {
    constexpr size_t kPage = 4096;
    void* const room = mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(room, MAP_FAILED);
    void* const at = static_cast<std::byte*>(room) + kPage;
    EXPECT_EQ(mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0), at);
    return static_cast<std::byte*>(at);
  }
  std::byte* one_ = nullptr;
  std::byte* other_ = nullptr;
};

}  // namespace hocket::platform
