// SPDX-License-Identifier: BSD-3-Clause
// Elements of a datatype as the bytes of their signature, in the calling thread's scratch memory: what a collective
// works on in place of a buffer whose elements don't lie densely, or where only a device's driver reaches them.
//
// Thread safety: an object belongs to one call; a thread has at most one of each use.
#pragma once

#include "core/devices/device_memory.h"
#include "shim/scratch.h"
#include "shim/types/types.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

// Elements where the program has them.
struct Elements {
  const void* buffer;
  size_t count;
  MPI_Datatype type;
  const TypeFacts* facts;

  size_t bytes() const { return count * facts->size; }
  bool is_dense() const { return facts->is_dense_array(count); }
  // Nothing has to be packed.
  bool lie_ready() const { return is_dense() && !device::needs_staging(first_byte(), bytes()); }
  // Of the first element; the program's own memory, which is const where it is only read.
  unsigned char* first_byte() const { return static_cast<unsigned char*>(const_cast<void*>(buffer)) + facts->true_lb; }
  Elements part(size_t first, size_t length) const {
    const auto distance = static_cast<MPI_Aint>(first) * facts->extent;
    return {static_cast<const unsigned char*>(buffer) + distance, length, type, facts};
  }
};

// Any amount; MPI error codes. What goes wrong has been raised by the MPI.
int pack(const Elements& from, unsigned char* to, MPI_Comm comm);
int unpack(const unsigned char* from, const Elements& to, MPI_Comm comm);

// The reason to give up, where peers wait for what has not been packed.
inline constexpr const char* kPackingFailed = "MPI_Pack failed on its data";

class Packed {
 public:
  enum class Use { kInput, kOutput };
  Packed(Use use, MPI_Comm comm);
  ~Packed();
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  // Everything else needs the room. False: no memory.
  [[nodiscard]] bool reserve(size_t bytes);
  // The same where peers wait for this rank: without memory the job ends.
  void make_room(size_t bytes);

  void pack_at(size_t at, const Elements& from);
  void unpack_at(size_t at, const Elements& to);

  unsigned char* bytes() const { return bytes_; }  // nullptr before there is room
  int error() const { return error_; }             // the first one, or MPI_SUCCESS

 private:
  Scratch& scratch_;
  const MPI_Comm comm_;
  unsigned char* bytes_ = nullptr;
  int error_ = MPI_SUCCESS;
};

}  // namespace hocket::interposer
