// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls of a communicator, and those that are planned once and started again and again: queued on tracks,
// and advanced by whatever waits or tests. Each track carries
// out its calls in the order in which they were started, which is the same on every rank. One at a time communicates;
// of those that wait for an engine that needs no help, as many as it takes.
//
// Thread safety: one thread at a time, but for Request::done and take_result().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "communicator/calls/call.h"
#include "communicator/failure/failure.h"

namespace hocket::communicator {

class Communicator;

struct Request {
  Communicator* communicator = nullptr;
  uint32_t track = 0;
  // Stored with release by the thread that has moved the call to its end, and loaded with acquire by one that may look
  // for it beside that: then the results are there, too.
  std::atomic<bool> done{false};
  uint64_t began_ns = 0;     // 0: it isn't traced
  uint32_t trace_track = 0;  // of the thread that has started it
  // Of one that is kept from one start to the next:
  bool is_kept = false;
  bool is_under_way = false;  // from its start until its result has been taken
  uint32_t own_track = 0;
  std::shared_ptr<const Prepared> plan;
  std::shared_ptr<const void> needs;   // what its owner wants to be there as long as the request is
  std::weak_ptr<const void> lifetime;  // expires with the communicator, if its owner looks at that
  Status status;
  Arguments arguments;
  Call call;

  Request* next = nullptr;  // of its track; of those whose results have been taken
};

class RequestQueue {
 public:
  // Both outlive it.
  RequestQueue(Tracks& tracks, FailureDetector& failure) : tracks_(tracks), failure_(failure) {}
  ~RequestQueue() { collect_returned(); }

  // The track of the next request: they take turns.
  uint32_t next_track() const { return 1 + static_cast<uint32_t>(started_ % (Tracks::kMost - 1)); }
  // An empty one, of one that has been retired if there is any.
  std::unique_ptr<Request> take_spare();
  // Takes a request of that track whose call has started; the result is valid until it is retired.
  Request* push(std::unique_ptr<Request> request);
  // Moves all requests as far as they go now.
  void advance();
  // Those of one track.
  void advance(uint32_t track);
  // So many are moved by who waits for them.
  void await(uint32_t requests) { awaited_ = requests; }
  // The same beside a call that waits. Not ok: a request has broken the communicator, and the call's steps have been
  // cancelled.
  Status advance_beside();
  // The request, which is done, goes, unless it is kept; gives how it ended.
  Status retire(Request* request);
  // The same in any thread, while another may be at work with the queue.
  Status take_result(Request* request);

  // Changes when any of them has come a stage further, or to its end.
  uint64_t moves() const { return moves_; }
  // How many still run, and how many the caller has not retired.
  uint32_t running() const { return running_; }
  uint64_t unretired() const { return pushed_ - retired_.load(std::memory_order_relaxed); }

 private:
  // As many as programs have under way at a time, mostly.
  static constexpr size_t kMostSpare = 64;

  struct Queue {
    Request* first = nullptr;
    Request* last = nullptr;
  };

  bool advance(Request& request);
  // Those whose results have been taken are spare now.
  void collect_returned();

  Tracks& tracks_;
  FailureDetector& failure_;
  std::array<Queue, Tracks::kMost> queues_;  // of each track
  std::vector<std::unique_ptr<Request>> spare_;
  uint64_t started_ = 0;
  uint64_t moves_ = 0;
  uint32_t running_ = 0;
  uint32_t awaited_ = 0;
  // Relaxed: requests order what they have done by themselves.
  uint64_t pushed_ = 0;
  std::atomic<uint64_t> retired_{0};
  // Linked. Stored with release by who has taken a result, exchanged with acquire by who collects.
  std::atomic<Request*> returned_{nullptr};
};

}  // namespace hocket::communicator
