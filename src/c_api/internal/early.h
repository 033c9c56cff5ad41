// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what is cheap while the process has one
// thread, and what its first communicator would have to wait for later.
//
// Thread safety: before the process has a second thread; later calls do nothing.
#pragma once

namespace hocket::c_api {

// Has been, since it began, as far as the C library tells.
bool is_single_threaded();

void prepare_early();

}  // namespace hocket::c_api
