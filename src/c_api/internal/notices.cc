// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/notices.h"

#include "c_api/handles.h"
#include "engines/shared_memory/notices.h"

namespace hocket::c_api {

using engines::shared_memory::Notices;

bool has_notices(const hocket_comm_t* comm) { return comm->communicator->participants().have_notices; }

size_t longest_notice() { return engines::shared_memory::kNoticeBytes; }

void leave_notice(hocket_comm_t* comm, uint64_t number, const void* text, size_t bytes) {
  Notices(*comm->communicator->participants().group).leave(number, text, bytes);
}

bool read_notice(const hocket_comm_t* comm, int rank, uint64_t number, void* text, size_t bytes) {
  const auto place = static_cast<uint32_t>(rank);
  return Notices(*comm->communicator->participants().group).read(place, number, text, bytes);
}

bool is_alive(const hocket_comm_t* comm, int rank) {
  const auto& peer = comm->communicator->participants().peers[static_cast<size_t>(rank)];
  return peer == nullptr || peer->is_alive();
}

}  // namespace hocket::c_api
