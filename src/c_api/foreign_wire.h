// SPDX-License-Identifier: BSD-3-Clause
// The caller's wire, as the engine wants it.
//
// Thread safety: that of the caller's functions.
#pragma once

#include <hocket/hocket.h>

#include <memory>

#include "base/status.h"
#include "engines/wire/wire.h"

namespace hocket::c_api {

// kInvalidArgument where a function is missing or a number makes no sense.
Result<std::shared_ptr<engines::wire::Wire>> foreign_wire(const hocket_wire_t& wire);

}  // namespace hocket::c_api
