// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/pending.h"

#include <algorithm>
#include <ctime>

#include "c_api/handles.h"

namespace hocket::c_api {
namespace {

// A pause is a small part of the wait so far.
constexpr int64_t kPausesPerWait = 64;
constexpr int64_t kShortestPauseNs = 50'000;

platform::WaitPolicy policy_of(const hocket_context_t* context) {
  platform::WaitPolicy policy;
  policy.has_hidden_peers = true;
  if (context == nullptr) return policy;
  policy.mode = context->context->wait_mode();
  policy.oversubscribed = context->context->oversubscribed();
  policy.slice_ns = context->context->slice_ns();
  return policy;
}

}  // namespace

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

Backoff::Backoff(const hocket_context_t* context) : waiter_(policy_of(context)), context_(context) { waiter_.start(); }

void Backoff::pause() {
  if (++looks_ % platform::Waiter::kLooksPerProgress == 0 && context_ != nullptr) context_->context->progress();
  if (waiter_.pause() != platform::WaitAction::kSleep) return;
  // Several things may have to come one after the other, each of which is awaited anew.
  const timespec pause{
      0, std::min(waiter_.poll_interval_ns(), std::max(waiter_.waited_ns() / kPausesPerWait, kShortestPauseNs))};
  nanosleep(&pause, nullptr);
  waiter_.woken(false);
}

}  // namespace hocket::c_api
