// SPDX-License-Identifier: BSD-3-Clause
// What collectives of one rank come to: bytes of its own memory that go to another place there.
//
// Thread safety: as packing.h.
#pragma once

#include <cstring>

#include "shim/buffers/packing.h"

namespace hocket::interposer {

// As many bytes on both sides.
struct OwnCopy {
  Elements from, to;
  bool lies_ready;  // nothing has to be packed
};

namespace internal {
int carry_out_by_packing(const Elements& from, const Elements& to, MPI_Comm comm);
}  // namespace internal

// An MPI error code; what goes wrong has been raised.
inline int carry_out(const OwnCopy& copy, MPI_Comm comm) {
  // By copies, so that the addresses of `copy` don't escape and it stays in registers.
  if (!copy.lies_ready) [[unlikely]]
    return internal::carry_out_by_packing(Elements(copy.from), Elements(copy.to), comm);
  std::memmove(copy.to.first_byte(), copy.from.first_byte(), copy.from.bytes());
  return MPI_SUCCESS;
}

}  // namespace hocket::interposer
