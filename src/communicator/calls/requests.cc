// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/requests.h"

#include <utility>

#include "base/assertion.h"

namespace hocket::communicator {

using engines::Progress;

Request* RequestQueue::push(std::unique_ptr<Request> request) {
  HOCKET_ASSERT(request->track != 0 && request->track < Tracks::kMost, "requests have tracks of their own");
  if (queues_ == nullptr) queues_ = std::make_unique<std::array<std::deque<Request*>, Tracks::kMost>>();
  (*queues_)[request->track].push_back(request.get());
  ++started_;
  ++running_;
  ++unretired_;
  return request.release();  // the queue's from here on, whatever happens
}

// Of each track, those that may communicate: the first, and behind it as many as wait for an engine only.
void RequestQueue::advance() {
  if (queues_ == nullptr) return;
  for (uint32_t index = 1; index < Tracks::kMost; ++index) {
    auto& queue = (*queues_)[index];
    if (!queue.empty()) tracks_.find(index)->poll();
    for (auto at = queue.begin(); at != queue.end();) {
      Request& request = **at;
      if (!advance(request)) {
        if (!request.call.lets_next_start()) break;
        ++at;
        continue;
      }
      request.done = true;
      at = queue.erase(at);
      HOCKET_ASSERT(running_ != 0 && running_ <= unretired_, "who runs has not been retired");
      --running_;
    }
  }
}

// True: it is over, and its status says how it ended.
bool RequestQueue::advance(Request& request) {
  Status failure;
  if (failure_.is_broken())
    request.status = failure_.broken();
  else if (request.call.advance(*tracks_.find(request.track), failure) == Progress::kPending)
    return false;
  else if (!failure.is_ok())
    request.status = failure_.fail(std::move(failure));
  return true;
}

Status RequestQueue::advance_beside() {
  if (running_ == 0) return Status::ok();
  const bool was_broken = failure_.is_broken();
  advance();
  return failure_.is_broken() == was_broken ? Status::ok() : failure_.broken();
}

Status RequestQueue::retire(Request* request) {
  HOCKET_ASSERT(request->done, "a request is retired when it is done");
  HOCKET_ASSERT(unretired_ > running_, "a request is retired once");
  const std::unique_ptr<Request> owned(request);
  --unretired_;
  return std::move(owned->status);
}

}  // namespace hocket::communicator
