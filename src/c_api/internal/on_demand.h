// SPDX-License-Identifier: BSD-3-Clause
// For who is built with the library and not only against its header: blocking calls whose operands are made ready part
// by part (engines/executor/on_demand.h).
//
// Thread safety: as the communicator.
#pragma once

#include <hocket/hocket.h>

#include "engines/executor/on_demand.h"

namespace hocket::c_api {

using engines::OnDemand;

// Whether ranks can work side by side, so that it is of use.
bool overlaps_work(const hocket_comm_t* comm);

// While it lives, blocking calls on the communicator ask `on_demand`. What that throws ends the call with
// HOCKET_ERR_SYSTEM, and breaks the communicator.
class ServedOnDemand {
 public:
  ServedOnDemand(hocket_comm_t* comm, OnDemand& on_demand);
  ~ServedOnDemand();
  ServedOnDemand(const ServedOnDemand&) = delete;
  ServedOnDemand& operator=(const ServedOnDemand&) = delete;

 private:
  hocket_comm_t* comm_;
};

}  // namespace hocket::c_api
