// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/set_up.h"

#include "communicator/setup/setup.h"

namespace hocket::c_api {

size_t first_message_bytes() { return communicator::Setup::first_message_bytes(); }

}  // namespace hocket::c_api
