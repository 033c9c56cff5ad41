// SPDX-License-Identifier: BSD-3-Clause
// What tests of the model over several nodes ask.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "selection/cost_model.h"

namespace hocket::selection {

using schedule::Collective;
using schedule::Nodes;

inline Nodes block_nodes(const std::vector<uint32_t>& ranks_on) {
  std::vector<uint64_t> labels;
  for (uint32_t node = 0; node < ranks_on.size(); ++node) labels.insert(labels.end(), ranks_on[node], node);
  return Nodes(labels);
}

inline Query query_on(const Nodes& nodes, Collective collective, uint64_t bytes, bool oversubscribed = false) {
  return {.collective = collective,
          .bytes = bytes,
          .ranks = nodes.ranks(),
          .nodes = &nodes,
          .oversubscribed = oversubscribed,
          .element_bytes = 8};
}

inline double price_of(const Query& query, const std::string& spec, const CostParameters& parameters) {
  Result<Spec> parsed = parse_spec(query.collective, spec);
  EXPECT_TRUE(parsed.is_ok()) << parsed.status().message();
  Result<Choice> choice = choose(query, Table(parameters), &parsed.value());
  EXPECT_TRUE(choice.is_ok()) << choice.status().message();
  return PricedCall(query, choice.value()).us(parameters);
}

}  // namespace hocket::selection
