// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/told_lengths.h"

#include <algorithm>

namespace hocket::algorithms {

schedule::Plan plan_of_lengths(const Algorithm& composition, const schedule::Shape& shape) {
  // Not an allgather, from which a rank would conclude that all others have started.
  schedule::Builder builder(schedule::Collective::kGather,
                            {.size = shape.size, .rank = shape.rank, .nodes = shape.nodes});
  const schedule::Nodes& nodes = builder.nodes();
  const uint32_t node = nodes.node_of(shape.rank);
  const std::vector<uint32_t> told =
      composition.passes_on(nodes, node, shape.root, degree_meant(composition, shape.degree));
  builder.begin_stage();
  for (const uint32_t rank : told)
    if (rank != shape.rank) builder.send(rank, builder.input());
  if (std::find(told.begin(), told.end(), shape.rank) != told.end())
    for (const uint32_t rank : nodes.ranks_of(node))
      if (rank != shape.rank) builder.receive(rank, builder.output_block(nodes.place_of(rank)));
  builder.end_stage();
  return builder.finish();
}

}  // namespace hocket::algorithms
