// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/takeover.h"

#include <new>

#include "c_api/handles.h"

namespace hocket::c_api {

std::unique_ptr<Takeover> make_takeover(hocket_comm_t* job, int rank, const std::vector<int>& in_job, uint64_t number,
                                        bool may_take_part) {
  try {
    const std::vector<uint32_t> places(in_job.begin(), in_job.end());
    return std::make_unique<Takeover>(*job->communicator, static_cast<uint32_t>(rank), places, number, may_take_part);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

hocket_comm_t* take(Takeover& takeover) { return new hocket_comm{takeover.take()}; }

}  // namespace hocket::c_api
