// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.h"

#include <cstring>

namespace conformance {
namespace {

unsigned char static_bytes[2 * Places::kBytes];

}  // namespace

const char* memory_name(Memory memory) {
  static const char* const names[kMemories] = {"heap", "stack", "static", "MPI_Alloc_mem", "shared window"};
  return names[static_cast<int>(memory)];
}

Places::Places(unsigned char* stack) : stack_(stack) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0, size = 0, world = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  if (size == world) {
    MPI_Win_allocate_shared(2 * kBytes + kCommonBytes, 1, MPI_INFO_NULL, node, &shared_, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &common_);
    common_ += 2 * kBytes;
    if (rank == 0) std::memset(common_, 0, kCommonBytes);
  }
  MPI_Comm_free(&node);
  MPI_Barrier(MPI_COMM_WORLD);
}

void Places::close() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

unsigned char* Places::at(Memory memory, int which) const {
  unsigned char* base = nullptr;
  if (memory == Memory::kStack) base = stack_;
  if (memory == Memory::kStatic) base = static_bytes;
  if (memory == Memory::kShared) base = shared_;
  return base == nullptr ? nullptr : base + static_cast<size_t>(which) * kBytes;
}

Buffer::Buffer(const Places& places, Memory memory, int which, size_t bytes) {
  if (memory == Memory::kAllocated) {
    if (MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &allocated_) == MPI_SUCCESS) {
      data_ = static_cast<unsigned char*>(allocated_);
      return;
    }
    allocated_ = nullptr;
  }
  if (bytes <= Places::kBytes) data_ = places.at(memory, which);
  if (data_ != nullptr) return;
  heap_.reset(new unsigned char[bytes]);
  data_ = heap_.get();
}

Buffer::~Buffer() {
  if (allocated_ != nullptr) MPI_Free_mem(allocated_);
}

}  // namespace conformance
