// SPDX-License-Identifier: BSD-3-Clause
// Whether ranks of a node have come to a call of a track, by what each leaves in memory.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

#include "communicator/participants.h"
#include "communicator/tracks.h"

namespace hocket::communicator {

// Whether this rank has a call there that isn't over. While it has, all memory of the peers is still theirs.
inline bool is_in_call(const Track& track, const Participants& participants) {
  const uint64_t number = track.lane().announced();
  return number != 0 && !track.lane().has_finished(participants.group->rank(), number);
}

// Only while this rank is in a call there. One that is far ahead has a later record in the call's place, but has
// finished the call.
inline bool has_come(const Track& track, uint32_t place, uint64_t number) {
  CallSignature signature;
  return track.lane().read_record(place, number, signature) || track.lane().has_finished(place, number);
}

}  // namespace hocket::communicator
