// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/neighbourhood.h"

#include "c_api/handles.h"

namespace hocket::c_api {

uint32_t number_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->enrolment->number(); }
const schedule::Neighbours& neighbours_of(const hocket_neighbourhood_t* neighbourhood) {
  return *neighbourhood->neighbours;
}
hocket_comm_t* comm_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->comm; }

hocket_neighbourhood_t* make_like(const hocket_neighbourhood_t* neighbourhood, hocket_comm_t* comm) {
  auto made = std::make_unique<hocket_neighbourhood>(*neighbourhood);
  made->comm = comm;
  made->enrolment = std::make_shared<const Enrolment>(comm->communicator->neighbourhoods(), made->neighbours);
  return made.release();
}

}  // namespace hocket::c_api
