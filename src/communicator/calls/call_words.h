// SPDX-License-Identifier: BSD-3-Clause
// Calls as sentences name them: in the words of the C API, or in those of MPI where that is what the program calls.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "engines/executor/combiner.h"
#include "engines/shared_memory/call_record.h"
#include "schedule/collective.h"

namespace hocket::communicator {

enum class Vocabulary : uint8_t { kHocket, kMpi };

using engines::shared_memory::CallSignature;

// The first word of a signature; roots are 0 where a collective has none.
inline uint64_t what_of(schedule::Collective collective, bool keep_order, uint32_t root) {
  return uint64_t{root} << 16 | uint64_t{keep_order} << 8 | static_cast<uint64_t>(collective);
}
// The second. No memory holds more.
inline uint64_t bytes_of(uint64_t bytes) { return bytes & ((uint64_t{1} << 48) - 1); }
// The third, from what a call's arguments say. Of an operation of the program's own ranks see only how long elements
// are: they may name the same function and the same type differently.
inline uint64_t operation_of(const engines::Combiner& combiner, uint64_t operation_name) {
  constexpr uint64_t kOwn = uint64_t{1} << 31;
  if (operation_name != 0) return operation_name << 32 | combiner.type;
  return combiner.function != nullptr ? kOwn | combiner.element_bytes : 0;
}

// "broadcast(8 bytes, root 0)"; "MPI_Allreduce(4 x double, MPI_SUM)".
std::string describe(const CallSignature& signature, Vocabulary vocabulary);
// "32-bit integer"; of an opaque type "element of 12 bytes".
std::string describe_type(uint32_t type);
std::string name_of(schedule::Collective collective, Vocabulary vocabulary);
// "rank 0 calls ... where rank 2 calls ...; the roots of the two ranks don't match".
std::string describe_difference(uint32_t rank, const CallSignature& signature, uint32_t other_rank,
                                const CallSignature& other, Vocabulary vocabulary);

}  // namespace hocket::communicator
