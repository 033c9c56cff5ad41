// SPDX-License-Identifier: BSD-3-Clause
// A call of MPI, once it is decided that hocket carries it out, as hocket's own: blocking and non-blocking ones alike.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <iterator>
#include <string_view>

#include "c_api/internal/call.h"
#include "core/statistics.h"

namespace hocket::interposer {

using c_api::Arguments;
using c_api::OnDemand;

namespace internal {

// hocket's collective for each of MPI's, by the name that both have in the table: neither has all of the other's.
constexpr auto kHocketCollectives = [] {
  constexpr std::string_view kNames[] = {
#define HOCKET_COLLECTIVE(constant, ...) #constant,
#include "base/collectives.def"
  };
  constexpr std::string_view kMpiNames[] = {
#define HOCKET_MPI_COLLECTIVE(constant, function) #constant,
#define HOCKET_MPI_BARRIER(constant, function) #constant,
#define HOCKET_MPI_PERSISTENT(constant, function) #constant,
#define HOCKET_MPI_NEIGHBOR(constant, function) #constant,
#include "base/collectives.def"
  };
  std::array<schedule::Collective, kCollectives> found{};
  for (size_t mpi = 0; mpi < found.size(); ++mpi) {
    found[mpi] = schedule::Collective::kAlltoallv;  // MPI_Alltoallw, in bytes; others are never asked for
    for (size_t own = 0; own < std::size(kNames); ++own)
      if (kNames[own] == kMpiNames[mpi]) found[mpi] = static_cast<schedule::Collective>(own);
  }
  return found;
}();

}  // namespace internal

constexpr schedule::Collective hocket_collective(Collective collective) {
  return internal::kHocketCollectives[static_cast<size_t>(collective)];
}

static_assert(hocket_collective(Collective::kBarrier) == schedule::Collective::kBarrier &&
              hocket_collective(Collective::kScan) == schedule::Collective::kScan &&
              hocket_collective(Collective::kReduceScatter) == schedule::Collective::kReduceScatter &&
              hocket_collective(Collective::kAlltoallw) == schedule::Collective::kAlltoallv);

// Bytes, that no operation combines.
inline Arguments arguments_of_bytes(Collective collective, int root) {
  Arguments arguments;
  arguments.collective = hocket_collective(collective);
  arguments.root = static_cast<uint32_t>(root);
  arguments.combiner.type = HOCKET_BYTE;
  return arguments;
}

}  // namespace hocket::interposer
