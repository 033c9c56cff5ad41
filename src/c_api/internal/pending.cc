// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/pending.h"

#include "c_api/handles.h"

namespace hocket::c_api {

void advance(hocket_comm_t* comm) {
  (void)guarded(*comm->communicator, [&] {
    comm->communicator->advance_pending();
    return HOCKET_OK;
  });
}

bool advance_alone(hocket_comm_t* comm) {
  bool has_moved = true;
  (void)guarded(*comm->communicator, [&] {
    has_moved = comm->communicator->advance_pending_alone();
    return HOCKET_OK;
  });
  return has_moved;
}

void await(hocket_request_t* request) {
  communicator::Request* const started = from_handle(request);
  (void)guarded(*started->communicator, [&] {
    started->communicator->await(started);
    return HOCKET_OK;
  });
}

hocket_status_t take_result(hocket_request_t* request) {
  communicator::Request* const over = from_handle(request);
  return guarded([&] { return answer(over->communicator->take_result(over)); });
}

bool is_over(const hocket_request_t* request) {
  return reinterpret_cast<const communicator::Request*>(request)->done.load(std::memory_order_acquire);
}

}  // namespace hocket::c_api
