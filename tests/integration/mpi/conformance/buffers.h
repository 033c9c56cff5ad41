// SPDX-License-Identifier: BSD-3-Clause
// Memory of every kind that programs pass to an MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace conformance {

enum class Memory { kHeap, kStack, kStatic, kAllocated, kShared };  // MPI_Alloc_mem, MPI_Win_allocate_shared
inline constexpr int kMemories = 5;
const char* memory_name(Memory memory);

// What has a limited size, for two buffers each: on the stack of main(), in a shared window, and static.
class Places {
 public:
  static constexpr size_t kBytes = size_t{1} << 18;

  // `stack` has 2 * kBytes. Collective over MPI_COMM_WORLD.
  explicit Places(unsigned char* stack);
  void close();  // likewise
  unsigned char* at(Memory memory, int which) const;
  // Zero-filled memory that all ranks see, for counting; null where there is no shared window.
  unsigned char* common() const { return common_; }
  static constexpr size_t kCommonBytes = 4096;

 private:
  unsigned char* stack_;
  unsigned char* shared_ = nullptr;
  unsigned char* common_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// One buffer; from the heap where what was asked for is too small.
class Buffer {
 public:
  Buffer(const Places& places, Memory memory, int which, size_t bytes);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();
  unsigned char* data() const { return data_; }

 private:
  std::unique_ptr<unsigned char[]> heap_;
  void* allocated_ = nullptr;
  unsigned char* data_ = nullptr;
};

}  // namespace conformance
