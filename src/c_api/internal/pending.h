// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: how to look after non-blocking calls beside
// other work.
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/hocket.h>

namespace hocket::c_api {

// Moves what has been started on the communicator, and looks for peers that have failed now and then. What goes wrong
// is told by the requests.
void advance(hocket_comm_t* comm);
// The same where the library underneath must be left alone: in its own progress, and in a thread that it doesn't know.
// Whether anything has come further.
bool advance_alone(hocket_comm_t* comm);
// Until is_over(): waits as hocket_wait() does.
void await(hocket_request_t* request);
// How one that is over has ended: as hocket_test() does, while another thread may be at work with the communicator.
hocket_status_t take_result(hocket_request_t* request);
// Whether hocket_test would say so, as far as the last advance() knows. Any thread.
bool is_over(const hocket_request_t* request);

}  // namespace hocket::c_api
