// SPDX-License-Identifier: BSD-3-Clause
// A call of MPI, once it is decided that hocket carries it out, as hocket's own: blocking and non-blocking ones alike.
//
// Thread safety: pure functions.
#pragma once

#include "c_api/internal/call.h"
#include "core/statistics.h"

namespace hocket::interposer {

using c_api::Arguments;
using c_api::OnDemand;

// Of MPI_Alltoallw that of bytes by MPI_Alltoallv.
constexpr schedule::Collective hocket_collective(Collective collective) {
  switch (collective) {
#define HOCKET_COLLECTIVE(constant, ...) \
  case Collective::k##constant:          \
    return schedule::Collective::k##constant;
#include "base/collectives.def"
    default:
      return schedule::Collective::kAlltoallv;
  }
}

// Bytes, that no operation combines.
inline Arguments arguments_of_bytes(Collective collective, int root) {
  Arguments arguments;
  arguments.collective = hocket_collective(collective);
  arguments.root = static_cast<uint32_t>(root);
  arguments.combiner.type = HOCKET_BYTE;
  return arguments;
}

}  // namespace hocket::interposer
