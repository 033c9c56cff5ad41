// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/on_demand.h"

#include "c_api/handles.h"

namespace hocket::c_api {

bool overlaps_work(const hocket_comm_t* comm) { return !comm->communicator->is_oversubscribed(); }

ServedOnDemand::ServedOnDemand(hocket_comm_t* comm, OnDemand& on_demand) : comm_(comm) {
  comm_->communicator->serve(&on_demand);
}
ServedOnDemand::~ServedOnDemand() { comm_->communicator->serve(nullptr); }

}  // namespace hocket::c_api
