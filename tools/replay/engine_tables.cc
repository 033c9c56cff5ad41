// SPDX-License-Identifier: BSD-3-Clause
#include "replay/engine_tables.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "algorithms/algorithm.h"
#include "algorithms/facts.h"
#include "algorithms/given_tree.h"
#include "engines/nic/stage_table.h"
#include "selection/table.h"

namespace hocket::replay {
namespace {

using engines::nic::Form;
using engines::nic::Mode;

struct EngineWay {
  const char* name;
  Form form;
  bool is_vote = false;  // a barrier by broadcast
};
// Those of `hocket lab bench` that have doorbells which can be recorded.
constexpr EngineWay kWays[] = {
    {"nic", {}},
    {"nic-chain", {.mode = Mode::kChain}},
    {"nic-arrival", {.on_arrival = true}},
    {"nic-direct", {.mode = Mode::kDirect}},
    {"nic-broadcast", {}, true},
    {"nic-xdp", {}},
};

Status unfit(const std::string& what) { return {Code::kInvalidArgument, what}; }

Result<std::vector<nic_program>> votes_of(uint32_t members, const std::function<schedule::Plan(uint32_t)>& plan_of) {
  std::vector<nic_program> parts;
  for (uint32_t member = 0; member < members; ++member) {
    Result<nic_program> part = engines::nic::broadcast_table(member, members, plan_of);
    if (!part.is_ok()) return part.take_status();
    parts.push_back(part.take());
  }
  return parts;
}

}  // namespace

std::string known_engines() {
  std::string known;
  for (const EngineWay& way : kWays) known += (known.empty() ? "" : ", ") + std::string(way.name);
  return known;
}

Result<EngineTables> make_tables(schedule::Collective collective, const std::string& schedule,
                                 const std::string& engines, uint32_t members) {
  const auto way = std::ranges::find(kWays, engines, &EngineWay::name);
  if (way == std::end(kWays))
    return unfit("engines `" + engines + "` can't be simulated by their doorbells; " + known_engines() + " can");
  const Result<selection::PartSpec> spec = selection::parse_part_spec(collective, schedule);
  if (!spec.is_ok()) return Status(spec.status().code(), spec.status().message());
  const algorithms::Algorithm& algorithm = *spec.value().algorithm;
  if (!algorithms::is_by_messages(algorithm))
    return unfit(std::string(algorithm.name) + " is no algorithm by messages, as NIC engines carry out");
  const uint32_t degree = spec.value().degree;
  if (algorithm.takes_tree && degree != 0 && algorithms::ranks_of_given_tree(degree) != members)
    return unfit(schedule + " is of " + std::to_string(algorithms::ranks_of_given_tree(degree)) +
                 " ranks, and the recording of " + std::to_string(members));
  const auto plan_of = [&](uint32_t rank) {
    return algorithms::make_plan(algorithm, {.size = members, .rank = rank, .degree = degree});
  };
  const bool has_twin = collective == schedule::Collective::kReduce || collective == schedule::Collective::kBroadcast;
  EngineTables tables;
  for (const bool synchronizes : {false, true}) {
    if (synchronizes && !has_twin) continue;
    Form form = way->form;
    form.synchronizes = synchronizes;
    Result<std::vector<nic_program>> parts =
        way->is_vote ? votes_of(members, plan_of) : engines::nic::stage_tables(members, form, plan_of);
    if (!parts.is_ok()) return parts.take_status();
    tables.collectives.push_back(parts.take());
  }
  if (has_twin) tables.synchronizing = {1, 1};
  return tables;
}

}  // namespace hocket::replay
