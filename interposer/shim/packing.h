// SPDX-License-Identifier: BSD-3-Clause
// Elements of a datatype as the bytes of their signature, in the calling thread's scratch memory.
//
// Thread safety: an object belongs to one call; a thread has at most one of each use.
#pragma once

#include "shim/next.h"
#include "shim/scratch.h"
#include "shim/types.h"

namespace hocket::interposer {

class Packed {
 public:
  enum class Use { kInput, kOutput };
  explicit Packed(Use use);
  ~Packed();
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  // For up to 2 GiB; false if there is no memory. Everything else needs the room.
  bool make_room(size_t count, const TypeFacts& facts);
  // MPI error codes; what goes wrong has been raised by the MPI.
  int pack(const void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm);
  int unpack(void* buffer, size_t count, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm) const;
  unsigned char* bytes() const { return bytes_; }  // nullptr before there is something

 private:
  Scratch& scratch_;
  unsigned char* bytes_ = nullptr;
};

}  // namespace hocket::interposer
