// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls of a communicator: begun, and advanced by whoever waits or tests.
#include "base/clock.h"
#include "communicator/communicator.h"

namespace hocket::communicator {

using engines::Progress;
using engines::shared_memory::kLanes;

bool Communicator::may_run_by_engines() const { return nic_ != nullptr && nodes_->most() == 1 && !checks_arguments_; }

// All ranks are, alike: nothing has been begun.
Status Communicator::refused_for_engines() {
  return {Code::kNotSupported, "NIC engines don't carry this call out by themselves"};
}

Result<Request*> Communicator::start(const Arguments& arguments) {
  if (only_by_engines_ && !may_run_by_engines()) return refused_for_engines();
  if (only_by_engines_ && !planner_->may_go_by_nic(shape_of(arguments))) return refused_for_engines();
  if (checks_arguments_) HOCKET_TRY(check_agreement(arguments));
  auto request = std::make_unique<Request>();
  const Prepared* prepared = nullptr;
  std::shared_ptr<const Prepared> keep;
  Status planned = prepare(arguments, request->call, prepared, &keep);
  if (!planned.is_ok()) return only_by_engines_ && !broken_ ? refused_for_engines() : std::move(planned);
  if (only_by_engines_ && !prepared->runs_by_itself) return refused_for_engines();
  const uint32_t index = 1 + static_cast<uint32_t>(started_ % (kLanes - 1));
  if (tracks_[index] == nullptr) {
    Result<std::unique_ptr<Track>> track = make_track(index);
    if (!track.is_ok()) return fail(track.take_status());
    tracks_[index] = track.take();
  }
  ++started_;
  request->communicator = this;
  request->track = index;
  request->arguments = arguments;
  request->call.start(request->arguments, *prepared, std::move(keep));
  queues_[index].push_back(request.get());
  Request* const started = request.release();  // the queue's from here on, whatever happens
  ++outstanding_;
  ++unfinished_;
  advance_requests();
  return started;
}

// A call that waits ends with the requests beside it where one of them breaks the communicator: its own steps have been
// cancelled then.
Status Communicator::advance_others() {
  if (outstanding_ == 0) return Status::ok();
  const bool was_broken = broken_;
  advance_requests();
  return broken_ == was_broken ? Status::ok() : Status(Code::kBroken, broken_reason_);
}

// Of each track, those that may communicate: the first, and behind it as many as wait for a NIC engine only.
void Communicator::advance_requests() {
  for (uint32_t index = 1; index < kLanes; ++index) {
    auto& queue = queues_[index];
    if (!queue.empty()) tracks_[index]->poll();
    for (auto at = queue.begin(); at != queue.end();) {
      Request& request = **at;
      if (!advance(request)) {
        if (!request.call.lets_next_begin()) break;
        ++at;
        continue;
      }
      request.done = true;
      at = queue.erase(at);
      --outstanding_;
    }
  }
}

// True: it is over, and its status says how it ended.
bool Communicator::advance(Request& request) {
  Status failure;
  if (broken_)
    request.status = Status(Code::kBroken, broken_reason_);
  else if (request.call.advance(*tracks_[request.track], failure) == Progress::kPending)
    return false;
  else if (!failure.is_ok())
    request.status = fail(std::move(failure));
  return true;
}

void Communicator::advance_begun() {
  if (outstanding_ == 0) return;
  advance_requests();
  if (outstanding_ != 0 && !broken_) look_for_failure_now_and_then();
}

bool Communicator::test(Request* request, Status& status) {
  if (!request->done) {
    advance_requests();
    // A loop of tests without a wait: the library underneath must move and a dead peer be noticed all the same.
    context_.progress();
    if (!request->done && !broken_) look_for_failure_now_and_then();
    if (!request->done) return false;
  }
  status = retire(request);
  return true;
}

Status Communicator::retire(Request* request) {
  const std::unique_ptr<Request> owned(request);
  --unfinished_;
  return std::move(owned->status);
}

void Communicator::look_for_failure_now_and_then() {
  const auto now = static_cast<int64_t>(now_ns());
  if (now < next_look_ns_) return;
  if (next_look_ns_ != 0) {
    if (Status trouble = find_trouble(); !trouble.is_ok()) {
      (void)fail(std::move(trouble));
      advance_requests();
    }
  }
  next_look_ns_ = now + kFailureCheckNs;
}

}  // namespace hocket::communicator
