// SPDX-License-Identifier: BSD-3-Clause
// Copies of a cache line's payload: a call of memcpy would take longer than the copy.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstring>

namespace hocket::engines::shared_memory {

// The first and the last `kWord` bytes, which may overlap.
template <size_t kWord>
inline void copy_both_ends(std::byte* to, const std::byte* from, size_t bytes) {
  std::byte first[kWord], last[kWord];
  std::memcpy(first, from, kWord);
  std::memcpy(last, from + bytes - kWord, kWord);
  std::memcpy(to, first, kWord);
  std::memcpy(to + bytes - kWord, last, kWord);
}

inline void copy_short(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes == 8) {
    copy_both_ends<8>(to, from, 8);
  } else if (bytes > 32) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 16) {
    copy_both_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_both_ends<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_both_ends<4>(to, from, bytes);
  } else {
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace hocket::engines::shared_memory
