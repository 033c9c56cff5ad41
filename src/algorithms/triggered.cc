// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/triggered.h"

#include "algorithms/composition.h"

namespace hocket::algorithms {

using schedule::Collective;

namespace {

void trigger_barrier(schedule::Builder& builder) { builder.trigger({}, {}); }
void trigger_broadcast(schedule::Builder& builder) {
  const bool is_root = builder.rank() == 0;
  builder.trigger(is_root ? builder.output() : schedule::Slice{}, is_root ? schedule::Slice{} : builder.output());
}
void trigger_reduce(schedule::Builder& builder) {
  builder.trigger(builder.input(), builder.rank() == 0 ? builder.output() : schedule::Slice{});
}
void trigger_all(schedule::Builder& builder) { builder.trigger(builder.input(), builder.output()); }

}  // namespace

void (*triggered(Collective collective))(schedule::Builder&) {
  switch (collective) {
    case Collective::kBroadcast:
      return trigger_broadcast;
    case Collective::kReduce:
      return trigger_reduce;
    case Collective::kBarrier:
      return trigger_barrier;
    default:
      return trigger_all;
  }
}

schedule::Plan triggered_plan(Algorithm algorithm, schedule::Shape shape) {
  shape.first_ranks_lead = true;
  if (is_composition(algorithm)) {
    shape.parts[across_part(algorithm)].build = triggered(algorithm.collective);
  } else {
    algorithm.build = triggered(algorithm.collective);
  }
  return make_plan(algorithm, shape);
}

}  // namespace hocket::algorithms
