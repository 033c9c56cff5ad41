// SPDX-License-Identifier: BSD-3-Clause
#include "reproduce/model_call.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "pages/text.h"
#include "reproduce/embedded.h"
#include "selection/choice.h"
#include "selection/cost_model.h"
#include "simulation/network/network_file.h"
#include "words/collective_names.h"

namespace hocket::reproduce {
namespace {

using command::SimulatedEngine;
using command::SimulateOptions;

uint32_t count_in(const Json& call, const char* field, uint32_t otherwise) {
  return static_cast<uint32_t>(call.value(field, static_cast<double>(otherwise)));
}

// The network's file, and behind it what the call has in place of its numbers.
Result<simulation::Network> network_of(const Json& call) {
  const std::string name = call.value("network", std::string());
  std::string text = "hocket-network 1\n";
  bool is_there = name.empty();
  for (const simulation::BuiltInNetwork& built_in : simulation::kBuiltInNetworks)
    if (built_in.name == name) is_there = true;
  if (!is_there) return Status(Code::kNotSupported, "no model of this network yet: " + name);
  if (!name.empty()) text += "like " + name + "\n";
  const Json with = call.value("with", Json::object());
  for (const auto& [parameter, value] : with.items()) text += parameter + " " + value.dump() + "\n";
  return simulation::parse_network(text, "model");
}

// Of the choice that the paper's MPI made, or of no table.
Result<selection::Table> table_of(const Json& call, const simulation::CostParameters& costs) {
  const std::string name = call.value("table", std::string());
  for (const EmbeddedText& text : kChoiceTables) {
    if (text.name != name) continue;
    Result<selection::Table> table = selection::Table::parse(text.text, name);
    if (!table.is_ok()) return table.take_status();
    return table.value().with_model(costs);
  }
  return selection::Table(costs);
}

uint32_t parent_in(const std::string& form, uint32_t rank) {
  if (form == "chain") return rank - 1;
  return form == "doubling" ? rank - std::bit_floor(rank) : 0;
}

// "parents:0.0.0", a parent for each rank: a chain, all below the root (flat), or the binomial tree in which each rank
// serves the one behind it first, then the second, the fourth, ... (doubling). Plans serve high ranks first, so there
// ranks count backwards.
std::string tree_of(const std::string& form, uint32_t ranks) {
  std::vector<uint32_t> parents(ranks, 0);
  const auto own = [&](uint32_t rank) { return form == "doubling" && rank > 0 ? ranks - rank : rank; };
  for (uint32_t rank = 1; rank < ranks; ++rank) parents[own(rank)] = own(parent_in(form, rank));
  std::string text = "parents:0";
  for (uint32_t rank = 1; rank < ranks; ++rank) text += "." + std::to_string(parents[rank]);
  return text;
}

Status settle_engine(const Json& call, SimulateOptions& options) {
  const std::string engine = call.value("engine", std::string("messages"));
  if (engine.starts_with("nic")) options.engine = SimulatedEngine::kNic;
  if (engine == "host-udp") options.engine = SimulatedEngine::kUdp;
  if (engine == "nic-direct") options.nic_mode = engines::nic::Mode::kDirect;
  if (engine == "nic-chain") options.nic_mode = engines::nic::Mode::kChain;
  options.nic_asks_all = engine == "nic-broadcast";
  options.nic_on_arrival = engine == "nic-arrival";
  options.is_floating = call.value("is_floating", false);
  Result<simulation::Network> network = network_of(call);
  if (!network.is_ok()) return network.take_status();
  options.network = network.take();
  const double skew_us = call.value("skew_us", 0.0);
  Result<simulation::Distribution> skew =
      simulation::Distribution::parse(skew_us == 0 ? "0" : "uniform:0.." + pages::fixed_text(skew_us, 3) + "us");
  if (!skew.is_ok()) return skew.take_status();
  options.situation.skew = skew.value();
  options.runs = count_in(call, "runs", 1);
  options.calls = count_in(call, "calls", 1);
  return Status::ok();
}

Status settle_query(const Json& call, const schedule::Nodes& nodes, SimulateOptions& options) {
  const Result<schedule::Collective> collective =
      command::read_collective(call.value("collective", std::string("barrier")));
  if (!collective.is_ok()) return {collective.status().code(), collective.status().message()};
  selection::Query& query = options.query;
  query.collective = collective.value();
  query.ranks = ranks_of(call);
  query.nodes = &nodes;
  query.element_bytes = count_in(call, "element_bytes", 1);
  double bytes = call.value("bytes", 0.0);
  if (call.contains("total_bytes")) bytes = call["total_bytes"].get<double>() / std::pow(query.ranks, 2);
  if (call.contains("bytes_between_nodes"))
    bytes = call["bytes_between_nodes"].get<double>() / std::pow(nodes.most(), 2);
  query.bytes = static_cast<uint64_t>(std::llround(std::max(bytes, 0.0)));
  query.why_no_multicast = "";
  query.oversubscribed = query.ranks_a_node() > options.network.costs.cores;
  options.situation.shares_cores = selection::shares_cores(query, options.network.costs);
  return Status::ok();
}

}  // namespace

Json at_x(const Json& call, const std::string& axis, double x) {
  Json made = call;
  if (axis == "ranks") {
    made["nodes"] = 1;
    made["ppn"] = x;
  } else if (axis == "cores") {
    made["nodes"] = x / call.value("ppn", 1.0);
  } else if (axis == "levels") {
    made["nodes"] = x + 1;
  } else if (axis == "missed") {
    made["with"]["multicast_loss"] = x / 100;
  } else {
    made[axis] = x;
  }
  return made;
}

uint32_t ranks_of(const Json& call) { return count_in(call, "nodes", 1) * count_in(call, "ppn", 1); }

size_t simulated_rank(const Json& call, size_t rank) {
  return call.value("tree", std::string()) == "doubling" && rank > 0 ? ranks_of(call) - rank : rank;
}

Result<command::Simulated> simulate_call(const Json& call) {
  SimulateOptions options;
  if (Status status = settle_engine(call, options); !status.is_ok()) return status;
  const schedule::Nodes nodes =
      schedule::Nodes::in_blocks(std::vector<uint32_t>(count_in(call, "nodes", 1), count_in(call, "ppn", 1)));
  if (Status status = settle_query(call, nodes, options); !status.is_ok()) return status;
  Result<selection::Table> table = table_of(call, options.network.costs);
  if (!table.is_ok()) return table.take_status();
  std::string algorithm = call.value("algorithm", std::string());
  if (call.contains("tree")) algorithm = tree_of(call["tree"].get<std::string>(), options.query.ranks);
  std::optional<selection::Spec> spec;
  if (!algorithm.empty()) {
    Result<selection::Spec> parsed = selection::parse_spec(options.query.collective, algorithm);
    if (!parsed.is_ok()) return parsed.take_status();
    spec = parsed.take();
  }
  Result<selection::Choice> choice = selection::choose(options.query, table.value(), spec ? &*spec : nullptr);
  if (!choice.is_ok()) return choice.take_status();
  return command::simulate_choice(options, choice.value());
}

}  // namespace hocket::reproduce
