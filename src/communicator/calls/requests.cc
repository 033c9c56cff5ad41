// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/calls/requests.h"

#include <utility>

#include "base/assertion.h"
#include "communicator/communicator.h"
#include "communicator/timing/traced_call.h"
#include "platform/tracing/fast_clock.h"
#include "platform/tracing/tracer.h"

namespace hocket::communicator {

using engines::Progress;

namespace {

void begin_trace(Request& request) {
  request.began_ns = platform::fast_now_ns();
  request.trace_track = platform::Tracer::current()->track_of_thread(request.communicator->rank());
}

// Whichever thread has moved it to its end.
void end_trace(Request& request) {
  trace_started({.arguments = request.arguments,
                 .participants = request.communicator->participants(),
                 .vocabulary = request.communicator->context().vocabulary(),
                 .algorithm = request.call.algorithm_name(),
                 .began_ns = std::exchange(request.began_ns, 0),
                 .track = request.trace_track});
}

}  // namespace

std::unique_ptr<Request> RequestQueue::take_spare() {
  collect_returned();
  if (spare_.empty()) return std::make_unique<Request>();
  std::unique_ptr<Request> spare = std::move(spare_.back());
  spare_.pop_back();
  return spare;
}

Request* RequestQueue::push(std::unique_ptr<Request> request) {
  HOCKET_ASSERT(request->track != 0 && request->track < Tracks::kMost, "requests have tracks of their own");
  Request* const pushed = request.release();  // the queue's from here on, whatever happens
  Queue& queue = queues_[pushed->track];
  pushed->next = nullptr;
  (queue.first == nullptr ? queue.first : queue.last->next) = pushed;
  queue.last = pushed;
  ++started_;
  ++running_;
  ++pushed_;
  pushed->is_under_way = true;
  if (platform::is_traced()) [[unlikely]]
    begin_trace(*pushed);
  return pushed;
}

void RequestQueue::advance() {
  for (uint32_t track = 1; track < Tracks::kMost; ++track)
    if (queues_[track].first != nullptr) advance(track);
}

// Those that may communicate: the first, and behind it as many as wait for an engine only.
void RequestQueue::advance(uint32_t track) {
  Queue& queue = queues_[track];
  if (queue.first != nullptr) tracks_.find(track)->poll();
  Request* before = nullptr;
  for (Request* request = queue.first; request != nullptr;) {
    const uint64_t position = request->call.position();
    const bool is_over = advance(*request);
    if (is_over || request->call.position() != position) ++moves_;
    if (!is_over) {
      if (!request->call.lets_next_start()) break;
      before = request;
      request = request->next;
      continue;
    }
    Request* const next = request->next;
    (before == nullptr ? queue.first : before->next) = next;
    if (next == nullptr) queue.last = before;
    HOCKET_ASSERT(running_ != 0, "who runs has been started");
    --running_;
    if (request->began_ns != 0) [[unlikely]]
      end_trace(*request);
    request->done.store(true, std::memory_order_release);
    request = next;
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
  if (running_ == awaited_) return Status::ok();
  const bool was_broken = failure_.is_broken();
  advance();
  return failure_.is_broken() == was_broken ? Status::ok() : failure_.broken();
}

Status RequestQueue::retire(Request* request) {
  const bool is_kept = request->is_kept;
  HOCKET_ASSERT(request->done, "a request is retired when it is done");
  HOCKET_ASSERT(unretired() != 0, "a request is retired once");
  Status status = take_result(request);
  if (!is_kept) collect_returned();
  return status;
}

Status RequestQueue::take_result(Request* request) {
  HOCKET_ASSERT(request->done, "a result is taken when it is there");
  Status status = std::exchange(request->status, Status::ok());
  request->is_under_way = false;
  retired_.fetch_add(1, std::memory_order_relaxed);
  if (request->is_kept) return status;
  Request* first = returned_.load(std::memory_order_relaxed);
  do {
    request->next = first;
  } while (!returned_.compare_exchange_weak(first, request, std::memory_order_release, std::memory_order_relaxed));
  return status;
}

void RequestQueue::collect_returned() {
  if (returned_.load(std::memory_order_relaxed) == nullptr) return;
  Request* next = returned_.exchange(nullptr, std::memory_order_acquire);
  while (next != nullptr) {
    std::unique_ptr<Request> request(next);
    next = request->next;
    if (spare_.size() < kMostSpare) spare_.push_back(std::move(request));
  }
}

}  // namespace hocket::communicator
