// SPDX-License-Identifier: BSD-3-Clause
// What tests of the cost model ask it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "selection/cost_model.h"
#include "selection/parsed_table.h"

namespace hocket::selection {

using schedule::Collective;
using schedule::Nodes;

// Of ranks on one node.
inline Query call_of(Collective collective, uint64_t bytes, uint32_t ranks, bool oversubscribed = false) {
  return {
      .collective = collective, .bytes = bytes, .ranks = ranks, .oversubscribed = oversubscribed, .element_bytes = 8};
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

// Without an algorithm where none can serve.
inline Spec cheapest_spec(const Query& query, const CostParameters& parameters) {
  const std::vector<Prediction> all = predict(query, parameters);
  return all.empty() ? Spec() : all.front().spec;
}

// Of a table with these words on its `model` line.
inline CostParameters model_of(const std::string& words) { return parsed_table("model " + words + "\n").model(); }

// Why a table refuses them.
inline std::string refusal_of_model(const std::string& words) {
  return std::string(Table::parse("hocket-table 1\nmodel " + words + "\n", "t").status().message());
}

}  // namespace hocket::selection
