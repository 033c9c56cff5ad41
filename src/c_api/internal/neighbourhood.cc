// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/neighbourhood.h"

#include "c_api/handles.h"

namespace hocket::c_api {

using schedule::Neighbours;

namespace {

using Made = Result<std::shared_ptr<const Neighbours>>;

hocket_status_t take(hocket_comm& comm, Made& made, hocket_neighbourhood_t** neighbourhood) {
  if (!made.is_ok()) return report(made.status());
  *neighbourhood = enrol(comm, made.take());
  return HOCKET_OK;
}

}  // namespace

uint32_t number_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->enrolment->number(); }
const Neighbours& neighbours_of(const hocket_neighbourhood_t* neighbourhood) { return *neighbourhood->neighbours; }
hocket_comm_t* comm_of(const hocket_neighbourhood_t* neighbourhood) { return neighbourhood->comm; }

hocket_neighbourhood_t* make_like(const hocket_neighbourhood_t* neighbourhood, hocket_comm_t* comm) {
  return enrol(*comm, neighbourhood->neighbours);
}

hocket_status_t make_grid_known(hocket_comm_t* comm, const std::vector<int>& lengths, const std::vector<int>& periods,
                                hocket_neighbourhood_t** neighbourhood) {
  return guarded([&] {
    Made made = Neighbours::of_grid({lengths.begin(), lengths.end()}, {periods.begin(), periods.end()},
                                    comm->communicator->size());
    return take(*comm, made, neighbourhood);
  });
}

hocket_status_t make_lists_known(hocket_comm_t* comm, std::span<const Neighbours::Lists> lists,
                                 hocket_neighbourhood_t** neighbourhood) {
  return guarded([&] {
    Made made = Neighbours::of_lists(lists);
    return take(*comm, made, neighbourhood);
  });
}

}  // namespace hocket::c_api
