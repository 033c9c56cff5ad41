// SPDX-License-Identifier: BSD-3-Clause
#include "shim/buffers/own_copy.h"

#include <algorithm>

#include "shim/job/errors.h"

namespace hocket::interposer {
namespace {

// Elements of one type go some at a time, through little memory.
int copy_through_room(const Elements& from, const Elements& to, MPI_Comm comm) {
  constexpr size_t kAtOnceBytes = size_t{1} << 22;
  const bool is_in_parts = from.type == to.type && from.bytes() > kAtOnceBytes;
  const size_t at_once = is_in_parts ? std::max<size_t>(kAtOnceBytes / from.facts->size, 1) : from.count;
  Packed room(Packed::Use::kInput, comm);
  if (!room.reserve(at_once * from.facts->size)) return raise_error(comm, MPI_ERR_NO_MEM);
  int error = MPI_SUCCESS;
  for (size_t done = 0; done < from.count && error == MPI_SUCCESS; done += at_once) {
    const size_t length = std::min(at_once, from.count - done);
    error = pack(from.part(done, length), room.bytes(), comm);
    if (error == MPI_SUCCESS) error = unpack(room.bytes(), is_in_parts ? to.part(done, length) : to, comm);
  }
  return error;
}

}  // namespace

int internal::carry_out_by_packing(const Elements& from, const Elements& to, MPI_Comm comm) {
  if (from.lie_ready()) return unpack(from.first_byte(), to, comm);
  if (to.lie_ready()) return pack(from, to.first_byte(), comm);
  return copy_through_room(from, to, comm);
}

}  // namespace hocket::interposer
