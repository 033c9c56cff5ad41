// SPDX-License-Identifier: BSD-3-Clause
#include "shim/requests/waits.h"

namespace hocket::interposer {

__attribute__((cold)) void wake_in(MPI_Comm comm, int peer) {
  if (peer < 0 || is_nested()) return;
  if (comm == handles.comm_world) return wake_in_world(peer);
  // Of an intercommunicator's ranks this finds others, which sleep again.
  MPI_Group group, world;
  int rank = -1;
  if (next_pmpi().Comm_group(comm, &group) != MPI_SUCCESS) return;
  if (next_pmpi().Comm_group(handles.comm_world, &world) == MPI_SUCCESS) {
    if (next_pmpi().Group_translate_ranks(group, 1, &peer, world, &rank) != MPI_SUCCESS) rank = -1;
    next_pmpi().Group_free(&world);
  }
  next_pmpi().Group_free(&group);
  wake_in_world(rank);
}

}  // namespace hocket::interposer
