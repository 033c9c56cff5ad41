// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/takeover.h"

#include <new>

#include "c_api/handles.h"

namespace hocket::c_api {

std::unique_ptr<Takeover> make_takeover(int rank, const std::vector<int>& in_job, uint64_t number, uint64_t calls,
                                        Joining (*join)(bool wants_part)) {
  const auto join_job = [join](bool wants_part) -> Takeover::Joining {
    const Joining found = join(wants_part);
    return {found.job == nullptr ? nullptr : found.job->communicator.get(), found.may_take_part};
  };
  try {
    const std::vector<uint32_t> places(in_job.begin(), in_job.end());
    return std::make_unique<Takeover>(static_cast<uint32_t>(rank), places, number, calls, join_job);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

hocket_comm_t* take(Takeover& takeover) { return new hocket_comm{takeover.take()}; }

}  // namespace hocket::c_api
