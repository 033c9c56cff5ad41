// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/sleeping.h"

#include "c_api/handles.h"

namespace hocket::c_api {

const std::atomic<uint32_t>& sleepers(const hocket_comm_t* comm) {
  return comm->communicator->participants().group->sleepers();
}

bool sleep_until_woken(hocket_comm_t* comm, int64_t timeout_ns) {
  return comm->communicator->participants().group->sleep_unchecked(timeout_ns);
}

void wake(hocket_comm_t* comm, int rank) {
  const communicator::Participants& participants = comm->communicator->participants();
  const auto other = static_cast<uint32_t>(rank);
  if (rank < 0 || other >= participants.size || other == participants.rank || !participants.is_here(other)) return;
  participants.group->wake(participants.place_of(other));
}

}  // namespace hocket::c_api
