// SPDX-License-Identifier: BSD-3-Clause
// Memory that ranks of a benchmark share on one machine, whatever nodes they are on and whatever started them. It is
// neither the MPI's nor hocket's: both are what is measured.
//
// Its maker keeps an anonymous file open, which the others open through /proc. Nothing is left behind.
//
// Thread safety: none; opening is collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace hocket::bench {

// An all-gather over all ranks: `bytes` from `send` of each, rank i's arriving at i * bytes of `receive`.
using Gather = std::function<void(const void* send, void* receive, size_t bytes)>;

class SharedArea {
 public:
  // Ranks with the same label (labels[rank]) get the same memory, full of zeros. nullptr on all ranks if one of them
  // can't have it: it may not see the processes of others.
  static std::unique_ptr<SharedArea> open(int rank, std::span<const uint64_t> labels, size_t bytes,
                                          const Gather& gather);
  ~SharedArea();
  SharedArea(const SharedArea&) = delete;
  SharedArea& operator=(const SharedArea&) = delete;

  std::byte* memory() const { return memory_ + kHeadBytes; }

 private:
  static constexpr size_t kHeadBytes = 64;  // a number by which the right file is known

  SharedArea() = default;
  bool make(size_t bytes, uint64_t number);
  bool find(int process, int descriptor, size_t bytes, uint64_t number);
  bool map(int file, size_t bytes);

  int file_ = -1;  // the maker's
  std::byte* memory_ = nullptr;
  size_t mapped_bytes_ = 0;
};

}  // namespace hocket::bench
