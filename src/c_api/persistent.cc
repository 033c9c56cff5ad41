// SPDX-License-Identifier: BSD-3-Clause
// Requests that are kept: planned by hocket_..._init, started again and again, and freed.
#include <hocket/persistent.h>

#include <algorithm>
#include <string>

#include "c_api/arguments.h"

using hocket::c_api::drop_planned;
using hocket::c_api::from_handle;
using hocket::c_api::guarded;
using hocket::c_api::invalid;
using hocket::c_api::kOfParent;
using hocket::c_api::start_planned;
using hocket::c_api::wrong;
using hocket::communicator::Request;

namespace hocket::c_api {

hocket_status_t keep(hocket_comm_t* comm, hocket_status_t checked, const Arguments& arguments,
                     hocket_request_t** request, std::shared_ptr<const void> needs) {
  if (checked != HOCKET_OK) return checked;
  if (request == nullptr)
    return report(Status(Code::kInvalidArgument, "`request` is NULL; pass where to put the handle"));
  return guarded([&] {
    if (comm->lifetime == nullptr) comm->lifetime = std::make_shared<const char>();
    // Turns with the communicator's other calls: its starts are calls among these.
    HOCKET_CHECKED(plan(comm, arguments, 0, request));
    Request* const kept = from_handle(*request);
    kept->needs = std::move(needs);
    kept->lifetime = comm->lifetime;
    return HOCKET_OK;
  });
}

}  // namespace hocket::c_api

namespace {

// "": it can be started.
const char* why_not_now(hocket_request_t* request) {
  if (request == nullptr) return "it is NULL; pass a request that a hocket_..._init has made";
  const Request& kept = *from_handle(request);
  if (!kept.is_kept)
    return "it was started by a hocket_..._start, and goes when it is complete; a hocket_..._init makes requests that "
           "can be started again";
  if (kept.is_under_way) return "it is under way; wait for it, or test it until HOCKET_OK, before it is started again";
  if (kept.lifetime.expired()) return "its communicator has been destroyed; free it";
  return kept.communicator->context().is_owner() ? "" : kOfParent;
}

}  // namespace

hocket_status_t hocket_start(hocket_request_t* request) {
  const char* const why_not = why_not_now(request);
  if (*why_not == 0) [[likely]]
    return start_planned(request);
  return guarded([&] { return wrong("hocket_start", std::string("`request` can't be started: ") + why_not); });
}

// All or, where one is not as it should be, none.
hocket_status_t hocket_start_all(size_t count, hocket_request_t* const* requests) {
  if (count != 0 && requests == nullptr) return invalid("hocket_start_all", "`requests` is NULL");
  for (size_t i = 0; i < count; ++i) {
    const char* why_not = why_not_now(requests[i]);
    // In the array twice: marked as if it was under way, for the moment.
    if (*why_not == 0) {
      from_handle(requests[i])->is_under_way = true;
      continue;
    }
    const bool is_twice = std::find(requests, requests + i, requests[i]) != requests + i;
    for (size_t marked = 0; marked < i; ++marked) from_handle(requests[marked])->is_under_way = false;
    if (is_twice) why_not = "it is among them twice";
    return guarded([&] {
      return wrong("hocket_start_all",
                   "`requests[" + std::to_string(i) + "]` can't be started, and none was: " + why_not);
    });
  }
  hocket_status_t status = HOCKET_OK;
  for (size_t i = 0; i < count; ++i) {
    from_handle(requests[i])->is_under_way = false;
    if (status == HOCKET_OK) status = start_planned(requests[i]);
  }
  return status;
}

hocket_status_t hocket_request_free(hocket_request_t** request) {
  constexpr const char* kName = "hocket_request_free";
  if (request == nullptr || *request == nullptr) return HOCKET_OK;
  const Request& kept = *from_handle(*request);
  if (!kept.is_kept)
    return invalid(
        kName,
        "the request was started by a hocket_..._start: wait for it, or test it until HOCKET_OK, and it is gone");
  if (!kept.lifetime.expired() && !kept.communicator->context().is_owner()) return invalid(kName, kOfParent);
  if (kept.is_under_way)
    return invalid(kName, "the request is under way; wait for it, or test it until HOCKET_OK, before it is freed");
  drop_planned(*request);
  *request = nullptr;
  return HOCKET_OK;
}
