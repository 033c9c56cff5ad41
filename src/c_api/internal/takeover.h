// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: how a communicator comes to be beside calls
// that something else carries out, and takes them over, without any rank waiting for another
// (communicator/setup/takeover.h).
//
// Thread safety: as Takeover's.
#pragma once

#include <hocket/hocket.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "communicator/setup/takeover.h"

namespace hocket::c_api {

using communicator::Takeover;

struct Joining {
  hocket_comm_t* job;  // in which the whole job has met (has_notices()); nullptr: not yet
  bool may_take_part;
};
// As Takeover's constructor has them. nullptr: there is no memory.
std::unique_ptr<Takeover> make_takeover(int rank, const std::vector<int>& in_job, uint64_t number, uint64_t calls,
                                        Joining (*join)(bool wants_part));
// The communicator of one in which all have taken over.
hocket_comm_t* take(Takeover& takeover);

}  // namespace hocket::c_api
