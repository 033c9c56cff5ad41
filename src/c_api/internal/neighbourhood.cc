// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/neighbourhood.h"

#include "c_api/handles.h"

namespace hocket::c_api {

uint32_t number_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->number; }
const schedule::Neighbours& neighbours_of(const hocket_neighbourhood_t* neighbourhood) {
  return *neighbourhood->neighbours;
}
hocket_comm_t* comm_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->comm; }

}  // namespace hocket::c_api
