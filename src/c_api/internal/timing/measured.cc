// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/timing/measured.h"

#include <numeric>

#include "c_api/handles.h"

namespace hocket::c_api {

communicator::CallShape shape_of(schedule::Collective collective, size_t bytes, uint32_t ranks) {
  communicator::CallShape shape;
  shape.collective = collective;
  // Where ranks see different lengths, nothing is chosen by them.
  const bool has_bytes = collective != schedule::Collective::kBarrier && schedule::lengths_are_agreed(collective);
  if (!has_bytes) return shape;
  shape.element_bytes = std::gcd(bytes, sizeof(double));
  shape.count = bytes / shape.element_bytes;
  if (schedule::is_vector(collective)) shape.row = shape.count * ranks;
  return shape;
}

bool may_be_measured(schedule::Collective collective) {
  return !schedule::is_vector(collective) && !schedule::is_among_neighbors(collective);
}

std::optional<Measured> best_measured(const hocket_comm_t* comm, schedule::Collective collective, size_t bytes) {
  const communicator::Communicator& communicator = *comm->communicator;
  return communicator.best_measured(shape_of(collective, bytes, communicator.size()));
}

}  // namespace hocket::c_api
