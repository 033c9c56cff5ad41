// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/attention.h"

#include "c_api/handles.h"

namespace hocket::c_api {

void attend_while(hocket_context_t* context, const std::atomic<uint64_t>* reasons, bool library_spins) {
  context->context->attend({reasons, library_spins});
}

}  // namespace hocket::c_api
