// SPDX-License-Identifier: BSD-3-Clause
// How far this node's clock (base/clock.h) is from that of rank 0's node: for a trace of several nodes.
//
// Thread safety: in MPI_Init.
#pragma once

#include <cstdint>
#include <vector>

namespace hocket::interposer {

// What is to be added to times of this node. Collective. `nodes`: of each rank of MPI_COMM_WORLD, a number that ranks
// of one node have in common. 0 where the MPI fails.
int64_t clock_offset_ns(const std::vector<uint64_t>& nodes);

}  // namespace hocket::interposer
