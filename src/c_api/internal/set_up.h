// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: what hocket_comm_create brings to the first
// all-gather of its bootstrap, for a rank that takes part in that without making a communicator.
//
// Thread safety: pure.
#pragma once

#include <cstddef>

namespace hocket::c_api {

size_t first_message_bytes();

}  // namespace hocket::c_api
