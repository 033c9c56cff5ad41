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

hocket_status_t hocket_test(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (!started->communicator->context().is_owner()) return invalid("hocket_test", kOfParent);
  return guarded(*started->communicator, [&] {
    Status status;
    if (!started->communicator->test(started, status)) return HOCKET_IN_PROGRESS;
    *request = nullptr;
    return answer(status);
  });
}

hocket_status_t hocket_wait(hocket_request_t** request) {
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  Request* started = from_handle(*request);
  if (!started->communicator->context().is_owner()) return invalid("hocket_wait", kOfParent);
  return guarded(*started->communicator, [&] {
    const Status status = started->communicator->wait(started);
    *request = nullptr;
    return answer(status);
  });
}
