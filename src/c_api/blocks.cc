// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/blocks.h"

namespace hocket::c_api {

hocket_status_t set_blocks(const char* function, uint32_t count, const Side& side, const void* buffer,
                           const char* buffer_name, Arguments& out, schedule::BlockVector& blocks) {
  if (side.counts == nullptr) return wrong(function, std::string("`") + side.counts_name + "` is NULL");
  // What is negative or too large in any of them shows in the highest bits of all together.
  size_t total = 0;
  size_t bits = 0;
  for (uint32_t i = 0; i < count; ++i) {
    total += side.counts[i];
    bits |= side.counts[i] | (side.displacements != nullptr ? side.displacements[i] : 0) | total;
  }
  if (bits > SIZE_MAX / 4 / out.combiner.element_bytes) {
    return wrong(function, std::string("`") + side.counts_name + "` or its displacements hold a number that is " +
                               "negative or too large");
  }
  HOCKET_CHECKED(check_buffer(function, buffer_name, buffer, total));
  blocks = {side.counts, side.displacements};
  return HOCKET_OK;
}

hocket_status_t to_bytes(const char* function, uint32_t count, const char* name, const size_t* counts,
                         const size_t* displacements, const hocket_type_t* types, std::vector<size_t>& bytes) {
  if (counts == nullptr || displacements == nullptr || types == nullptr) {
    return wrong(function, std::string("the counts, displacements or types of `") + name + "` are NULL");
  }
  bytes.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t element = size_of(types[i]);
    if (element == 0 || __builtin_mul_overflow(counts[i], element, &bytes[i])) {
      return wrong(function, std::string("type ") + std::to_string(types[i]) + " or count " +
                                 std::to_string(counts[i]) + " of block " + std::to_string(i) + " in `" + name +
                                 "` can't be right");
    }
  }
  return HOCKET_OK;
}

}  // namespace hocket::c_api
