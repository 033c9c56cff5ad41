// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/blocks.h"

namespace hocket::c_api {

hocket_status_t set_blocks(const char* function, const hocket_comm_t* comm, const Side& side, const void* buffer,
                           const char* buffer_name, Arguments& out, schedule::BlockVector& blocks) {
  if (side.counts == nullptr) return wrong(function, std::string("`") + side.counts_name + "` is NULL");
  const uint32_t size = comm->communicator->size();
  // What is negative or too large in any of them shows in the highest bits of all together.
  size_t total = 0;
  size_t bits = 0;
  for (uint32_t rank = 0; rank < size; ++rank) {
    total += side.counts[rank];
    bits |= side.counts[rank] | (side.displacements != nullptr ? side.displacements[rank] : 0) | total;
  }
  if (bits > SIZE_MAX / 4 / out.combiner.element_bytes) {
    return wrong(function, std::string("`") + side.counts_name + "` or its displacements hold a number that is " +
                               "negative or too large");
  }
  HOCKET_CHECKED(check_buffer(function, buffer_name, buffer, total));
  blocks = {side.counts, side.displacements};
  return HOCKET_OK;
}

}  // namespace hocket::c_api
