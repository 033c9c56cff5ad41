// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: when to look after the library underneath.
//
// Thread safety: before the context's first communicator is made; the reasons may be counted by any thread.
#pragma once

#include <hocket/hocket.h>

#include "communicator/attention.h"

namespace hocket::c_api {

// From then on calls that wait call `progress` of the context's options as often as the occasion says. What it names
// outlives the context.
void attend(hocket_context_t* context, const communicator::Attention::Occasion& occasion);

}  // namespace hocket::c_api
