// SPDX-License-Identifier: BSD-3-Clause
// From rank 0 to all others by multicast, and by a chain for those that miss it.
//
// Reference: Hoefler, Siebert, Rehm, A practically constant-time MPI Broadcast Algorithm for large-scale InfiniBand
//   Clusters with Multicast (2007), section 2.
//
// Thread safety: pure, but for the builder, which belongs to one thread.
#pragma once

#include "schedule/builder.h"

namespace hocket::algorithms {

// What builder.rank() does to have what `whole` is on rank 0, segment by segment.
void multicast_down(schedule::Builder& builder, const schedule::Slice& whole);

}  // namespace hocket::algorithms
