// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/attention.h"

#include "c_api/handles.h"

namespace hocket::c_api {

void attend(hocket_context_t* context, const communicator::Attention::Occasion& occasion) {
  context->context->attend(occasion);
}

}  // namespace hocket::c_api
