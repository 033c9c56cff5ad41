// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls of a communicator: queued on tracks, and advanced by whatever waits or tests. Each track carries
// out its calls in the order in which they were started, which is the same on every rank. One at a time communicates;
// of those that wait for an engine that needs no help, as many as it takes.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/status.h"
#include "communicator/calls/call.h"
#include "communicator/failure/failure.h"

namespace hocket::communicator {

class Communicator;

struct Request {
  Communicator* communicator = nullptr;
  uint32_t track = 0;
  bool done = false;
  Status status;
  Arguments arguments;
  Call call;
};

class RequestQueue {
 public:
  // Both outlive it.
  RequestQueue(Tracks& tracks, FailureDetector& failure) : tracks_(tracks), failure_(failure) {}

  // The track of the next request: they take turns.
  uint32_t next_track() const { return 1 + static_cast<uint32_t>(started_ % (Tracks::kMost - 1)); }
  // Takes a request of that track whose call has started; the result is valid until it is retired.
  Request* push(std::unique_ptr<Request> request);
  // Moves all requests as far as they go now.
  void advance();
  // The same beside a call that waits. Not ok: a request has broken the communicator, and the call's steps have been
  // cancelled.
  Status advance_beside();
  // The request, which is done, goes; gives how it ended.
  Status retire(Request* request);

  // How many still run, and how many the caller has not retired.
  uint32_t running() const { return running_; }
  uint32_t unretired() const { return unretired_; }

 private:
  bool advance(Request& request);

  Tracks& tracks_;
  FailureDetector& failure_;
  // Of each track. nullptr: there has been no request.
  std::unique_ptr<std::array<std::deque<Request*>, Tracks::kMost>> queues_;
  uint64_t started_ = 0;
  uint32_t running_ = 0;
  uint32_t unretired_ = 0;
};

}  // namespace hocket::communicator
