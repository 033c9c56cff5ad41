// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: where this process is.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace hocket::c_api {

// The same for processes whose contexts share memory, as far as they can; for others another.
uint64_t node_label();

}  // namespace hocket::c_api
