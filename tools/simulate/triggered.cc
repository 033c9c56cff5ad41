// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/triggered.h"

#include <functional>
#include <string>

#include "algorithms/composition.h"
#include "algorithms/facts.h"
#include "engines/nic/call_size.h"
#include "engines/nic/operation_name.h"

namespace hocket::command {
namespace {

using schedule::Collective;

bool is_carried(Collective collective) {
  return collective == Collective::kBarrier || collective == Collective::kBroadcast ||
         collective == Collective::kReduce || collective == Collective::kAllreduce;
}

// What is done between nodes.
struct Between {
  const algorithms::Algorithm* algorithm = nullptr;
  uint32_t degree = 0;
};

Result<Between> between_nodes(const selection::Choice& choice, const schedule::Nodes& nodes) {
  const algorithms::Algorithm& algorithm = *choice.algorithm;
  if (!algorithms::is_composition(algorithm)) {
    if (nodes.most() > 1)
      return Status(Code::kNotSupported, "NIC engines stand for nodes, and in " + std::string(algorithm.name) +
                                             " all ranks exchange messages: leader:across=" +
                                             std::string(algorithm.name) + ", or --engine messages");
    return Between{choice.algorithm, choice.degree};
  }
  const size_t across = algorithms::across_part(algorithm);
  if (across == algorithm.parts.size() || algorithm.name != "leader" || choice.degree > 1)
    return Status(Code::kNotSupported, "NIC engines stand for nodes, and in " + std::string(algorithm.name) +
                                           " several ranks of each exchange messages: leader, or --engine messages");
  return Between{choice.parts[across].algorithm, choice.parts[across].degree};
}

engines::nic::Form form_of(const EnginesMode& mode, bool synchronizes) {
  return {.mode = mode.mode, .synchronizes = synchronizes, .on_arrival = mode.on_arrival};
}

Result<std::vector<nic_program>> tables_that_ask_all(uint32_t size,
                                                     const std::function<schedule::Plan(uint32_t)>& plan_of) {
  std::vector<nic_program> tables;
  for (uint32_t member = 0; member < size; ++member) {
    Result<nic_program> table = engines::nic::broadcast_table(member, size, plan_of);
    if (!table.is_ok()) return table.take_status();
    tables.push_back(table.take());
  }
  return tables;
}

}  // namespace

Result<simulation::EnginesCall> engines_call(const selection::Query& query, const schedule::Nodes& nodes, uint32_t root,
                                             EnginesMode mode, const selection::Choice& choice) {
  const Collective collective = query.collective;
  const bool is_barrier = collective == Collective::kBarrier;
  if (!is_carried(collective) || !engines::nic::is_short(collective, query.bytes, nodes))
    return Status(
        Code::kNotSupported,
        "NIC engines are simulated for barriers, and for broadcasts, reductions and all-reductions of up to " +
            std::to_string(sizeof(nic_operand)) + " bytes; --bytes 8, or --engine messages");
  Result<Between> found = between_nodes(choice, nodes);
  if (!found.is_ok()) return found.take_status();
  const Between between = found.value();
  const bool has_twin = schedule::has_root(collective);
  if ((mode.mode == engines::nic::Mode::kDirect || mode.asks_all) && !is_barrier)
    return Status(Code::kNotSupported, "NIC engines acknowledge each message, or ask all, in barriers only");
  simulation::EnginesCall made;
  const uint32_t degree = algorithms::degree_meant(*between.algorithm, between.degree);
  const auto plan_of = [&](uint32_t member) {
    return algorithms::make_plan(*between.algorithm, {.size = nodes.count(), .rank = member, .degree = degree});
  };
  for (const bool synchronizes : {false, true}) {
    if (synchronizes && !has_twin) break;
    Result<std::vector<nic_program>> tables =
        mode.asks_all ? tables_that_ask_all(nodes.count(), plan_of)
                      : engines::nic::stage_tables(nodes.count(), form_of(mode, synchronizes), plan_of);
    if (!tables.is_ok()) return tables.take_status();
    made.programs.push_back(tables.take());
    if (has_twin) made.synchronizing.push_back(1);
  }
  for (uint32_t node = 0; node < nodes.count(); ++node) made.members.push_back(nodes.ranks_of(node).front());
  if (has_twin) made.call.root = nodes.node_of(root);
  if (!is_barrier) {
    const uint8_t name = engines::nic::operation_name(
        collective, reduction::Operation::kSum, mode.is_floating ? reduction::Type::kDouble : reduction::Type::kInt64);
    made.call.operation = engines::nic::operation_of(name);
    made.call.type = engines::nic::type_of(name);
    made.call.words = static_cast<uint8_t>(engines::nic::words_for(query.bytes));
  }
  return made;
}

}  // namespace hocket::command
