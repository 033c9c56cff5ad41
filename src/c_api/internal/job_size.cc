// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/job_size.h"

#include "c_api/handles.h"

namespace hocket::c_api {

void expect_ranks(hocket_context_t* context, uint32_t ranks, uint32_t job) {
  context->context->expect_ranks(ranks, job);
}

}  // namespace hocket::c_api
