// SPDX-License-Identifier: BSD-3-Clause
// Arguments of collectives with a block for each rank, of one length or of different ones.
//
// Thread safety: as arguments.h.
#pragma once

#include <vector>

#include "c_api/arguments.h"

namespace hocket::c_api {

// A side of a vector version as the caller describes it.
struct Side {
  const char* counts_name;  // for errors
  const size_t* counts;
  const size_t* displacements;  // NULL: one block behind the other
};

// Checks a side of `count` blocks whose buffer this rank has, and enters it as `blocks`.
hocket_status_t set_blocks(const char* function, uint32_t count, const Side& side, const void* buffer,
                           const char* buffer_name, Arguments& out, schedule::BlockVector& blocks);
inline hocket_status_t set_blocks(const char* function, const hocket_comm_t* comm, const Side& side, const void* buffer,
                                  const char* buffer_name, Arguments& out, schedule::BlockVector& blocks) {
  return set_blocks(function, comm->communicator->size(), side, buffer, buffer_name, out, blocks);
}

// Of each of them: bytes = counts * types. Errors name `name`'s block.
hocket_status_t to_bytes(const char* function, uint32_t count, const char* name, const size_t* counts,
                         const size_t* displacements, const hocket_type_t* types, std::vector<size_t>& bytes);

// On one rank nothing differs: the call becomes that of blocks of equal length.
inline bool is_alone(const hocket_comm_t* comm) { return comm->communicator->size() == 1; }

}  // namespace hocket::c_api
