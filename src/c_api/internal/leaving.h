// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: hocket_comm_destroy in two halves, neither
// of which waits for peers.
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/hocket.h>

namespace hocket::c_api {

// No call comes after it. Errors as hocket_comm_destroy's.
hocket_status_t leave(hocket_comm_t* comm);
// Whether hocket_comm_destroy wouldn't wait for anybody any more. To be asked again and again, which brings it about.
bool has_left(hocket_comm_t* comm);

}  // namespace hocket::c_api
