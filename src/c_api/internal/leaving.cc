// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/leaving.h"

#include "c_api/handles.h"

namespace hocket::c_api {

hocket_status_t leave(hocket_comm_t* comm) {
  if (!comm->communicator->context().is_owner()) return invalid("hocket_comm_destroy", kOfParent);
  return guarded([&] { return answer(comm->communicator->leave()); });
}

bool has_left(hocket_comm_t* comm) {
  bool has_left = true;  // after an exception, too: nothing more will come of it
  (void)guarded([&] {
    has_left = comm->communicator->has_left();
    return HOCKET_OK;
  });
  return has_left;
}

}  // namespace hocket::c_api
