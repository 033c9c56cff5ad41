// SPDX-License-Identifier: BSD-3-Clause
// For who is built with the library and not only against its header: blocking calls whose operands are made ready part
// by part (engines/executor/on_demand.h).
//
// Thread safety: as the communicator.
#pragma once

#include "c_api/handles.h"

namespace hocket::c_api {

using engines::OnDemand;

// Whether ranks can work side by side, so that it is of use.
inline bool overlaps_work(const hocket_comm_t* comm) { return !comm->communicator->is_crowded(); }

// While it lives, blocking calls on the communicator ask `on_demand`. What that throws ends the call with
// HOCKET_ERR_SYSTEM, and breaks the communicator.
class ServedOnDemand {
 public:
  ServedOnDemand(hocket_comm_t* comm, OnDemand& on_demand) : communicator_(*comm->communicator) {
    communicator_.serve(&on_demand);
  }
  ~ServedOnDemand() { communicator_.serve(nullptr); }
  ServedOnDemand(const ServedOnDemand&) = delete;
  ServedOnDemand& operator=(const ServedOnDemand&) = delete;

 private:
  communicator::Communicator& communicator_;
};

}  // namespace hocket::c_api
