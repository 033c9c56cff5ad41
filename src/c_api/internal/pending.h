// SPDX-License-Identifier: BSD-3-Clause
// For who is built with the library and not only against its header: non-blocking calls that NIC engines end by
// themselves once they have been started, whatever the process does meanwhile.
//
// Thread safety: as the communicator; a Backoff belongs to one thread.
#pragma once

#include <hocket/hocket.h>

#include <cstddef>
#include <cstdint>

#include "platform/waiting/waiting.h"

namespace hocket::c_api {

// Whether engines may carry out non-blocking calls by themselves. The same on all ranks.
bool may_run_by_engines(const hocket_comm_t* comm);
// What they carry is no longer than this.
size_t most_bytes_by_engines();

// While it lives, hocket_..._start on the communicator start what engines end by themselves, and answer
// HOCKET_ERR_NOT_SUPPORTED to all else, alike on all ranks.
class OnlyByEngines {
 public:
  explicit OnlyByEngines(hocket_comm_t* comm);
  ~OnlyByEngines();
  OnlyByEngines(const OnlyByEngines&) = delete;
  OnlyByEngines& operator=(const OnlyByEngines&) = delete;

 private:
  hocket_comm_t* comm_;
};

// Moves what has been started on the communicator, and looks for peers that have failed now and then. What goes wrong
// is told by the requests.
void advance(hocket_comm_t* comm);
// Whether hocket_test would say so, as far as the last advance() knows.
bool is_over(hocket_request_t* request);

// The pauses of a thread that looks again and again at several things, of which hocket is one: as those of a call that
// blocks in hocket (platform/waiting/waiting.h), by pauses instead of sleep, since nothing wakes it.
class Backoff {
 public:
  // nullptr: as where nothing has been set.
  explicit Backoff(const hocket_context_t* context);
  void pause();

 private:
  platform::Waiter waiter_;
  const hocket_context_t* context_;
  uint32_t looks_ = 0;
};

}  // namespace hocket::c_api
