// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/waits.h"

#include "shim/communicators/communicators.h"

namespace hocket::interposer {

__attribute__((cold)) void wake_in(MPI_Comm comm, int peer) {
  if (!is_nested()) wake_in_world(world_rank_of(comm, peer));
}

}  // namespace hocket::interposer
