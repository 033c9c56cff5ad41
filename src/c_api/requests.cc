// SPDX-License-Identifier: BSD-3-Clause
// Testing and waiting for what has been started.
#include "c_api/handles.h"

using hocket::Status;
using hocket::c_api::answer;
using hocket::c_api::from_handle;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::communicator::Request;

namespace {

// One that is kept, and whose communicator may be gone.
bool is_at_rest(const Request& request) { return request.is_kept && !request.is_under_way; }

}  // namespace

hocket_status_t hocket_test(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (is_at_rest(*started)) return HOCKET_OK;
  if (!started->communicator->context().is_owner()) return invalid("hocket_test", kOfParent);
  const bool is_kept = started->is_kept;
  return guarded(*started->communicator, [&] {
    Status status;
    if (!started->communicator->test(started, status)) return HOCKET_IN_PROGRESS;
    if (!is_kept) *request = nullptr;
    return answer(status);
  });
}

hocket_status_t hocket_wait(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (is_at_rest(*started)) return HOCKET_OK;
  if (!started->communicator->context().is_owner()) return invalid("hocket_wait", kOfParent);
  const bool is_kept = started->is_kept;
  return guarded(*started->communicator, [&] {
    const Status status = started->communicator->wait(started);
    if (!is_kept) *request = nullptr;
    return answer(status);
  });
}
