// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/impairment.h"

#include <algorithm>
#include <iterator>

#include "lab/packets/offloads.h"
#include "lab/packets/recorder.h"
#include "lab/packets/relay.h"
#include "lab/packets/switch_programs.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

constexpr unsigned kDirections[] = {LAB_FROM_NODE, LAB_TO_NODE};

void set_value(lab_settings& settings, const Impairment& impairment) {
  const uint64_t value = impairment.value;
  if (const FurtherTime* further = further_time_of(impairment.kind)) {
    const bool is_over = value == 0 && further->role == Role::kDetail;
    settings.*further->setting = is_over ? 0 : impairment.more_ns;
  }
  settings.*facts_of(impairment.kind).setting = value;
  if (impairment.kind == ImpairmentKind::kLoss)
    settings.lose_multicast_only = value != 0 && impairment.only_multicast ? 1 : 0;
}

bool is_further_time_set(const lab_settings& settings) {
  return std::ranges::any_of(kFurtherTimes, [&](const FurtherTime& further) {
    return further.role == Role::kOwn && settings.*further.setting != 0;
  });
}

bool is_anything_set(const lab_settings& settings) {
  const auto is_set = [&](const ImpairmentFacts& facts) { return settings.*facts.setting != 0; };
  return std::ranges::any_of(kImpairments, is_set) || is_further_time_set(settings);
}

void change_link(const LinkTable& table, int node, unsigned direction, const Impairment& impairment) {
  lab_settings& settings = table.settings(node, direction);
  set_value(settings, impairment);
  if (impairment.seed) settings.seed = *impairment.seed;
  settings.is_active = is_anything_set(settings) ? 1 : 0;
  table.counters(node, direction).number = 0;
}

bool is_anything_active(const Lab& lab, const LinkTable& table) {
  for (int node = 0; node < lab.nodes; ++node) {
    for (const unsigned direction : kDirections) {
      if (table.settings(node, direction).is_active != 0) return true;
    }
  }
  return false;
}

}  // namespace

const ImpairmentFacts& facts_of(ImpairmentKind kind) { return kImpairments[static_cast<size_t>(kind)]; }

const FurtherTime* further_time_of(ImpairmentKind kind) {
  const auto* found = std::ranges::find(kFurtherTimes, kind, &FurtherTime::kind);
  return found == std::end(kFurtherTimes) ? nullptr : found;
}

Result<uint64_t> parse_value(ImpairmentKind kind, const std::string& word) {
  return facts_of(kind).measure == Measure::kTime ? parse_duration_ns(word) : parse_percent(word);
}

bool needs_relay(const lab_settings& settings) {
  const auto is_held = [&](const ImpairmentFacts& facts) {
    return facts.relaying == Relaying::kByRelay && settings.*facts.setting != 0;
  };
  return std::ranges::any_of(kImpairments, is_held) || is_further_time_set(settings);
}

Status impose(const Lab& lab, const Impairment& impairment) {
  const bool ends = impairment.value == 0 && impairment.more_ns == 0;
  // Where nothing was ever in force there is nothing to end.
  if (ends && !has_programs(lab)) return Status::ok();
  HOCKET_TRY(load_programs(lab));
  Result<LinkTable> table = LinkTable::open(lab);
  if (!table.is_ok()) return table.take_status();
  const ImpairmentFacts& facts = facts_of(impairment.kind);
  if (facts.relaying == Relaying::kByRelay && !ends) HOCKET_TRY(start_relay(lab));
  HOCKET_TRY(set_offloads(lab, false));
  const bool is_all = impairment.node == kAllNodes;
  // One that is cut off neither hears nor is heard.
  const bool both_ways = !is_all || facts.place == Place::kAtBoth;
  const bool at_sender = both_ways || facts.place == Place::kAtSender;
  const bool at_receiver = both_ways || facts.place == Place::kAtReceiver;
  Impairment none = impairment;
  none.value = none.more_ns = 0;
  for (int node = 0; node < lab.nodes; ++node) {
    if (!is_all && node != impairment.node) continue;
    change_link(table.value(), node, LAB_FROM_NODE, at_sender ? impairment : none);
    change_link(table.value(), node, LAB_TO_NODE, at_receiver ? impairment : none);
  }
  return is_anything_active(lab, table.value()) ? Status::ok() : set_offloads(lab, true);
}

Status reset_impairments(const Lab& lab) {
  HOCKET_TRY(set_offloads(lab, true));
  HOCKET_TRY(stop_relay(lab));
  if (!has_programs(lab)) return Status::ok();
  if (lab.switch_kind == SwitchKind::kBridge && recording_process(lab) == 0) return unload_programs(lab);
  Result<LinkTable> table = LinkTable::open(lab);
  if (!table.is_ok()) return table.take_status();
  for (int node = 0; node < lab.nodes; ++node) {
    for (const unsigned direction : kDirections) {
      lab_settings none{};
      none.seed = 1;
      table.value().settings(node, direction) = none;
      table.value().counters(node, direction) = {};
    }
  }
  return Status::ok();
}

Result<std::vector<LinkReport>> report_links(const Lab& lab) {
  std::vector<LinkReport> reports;
  if (!has_programs(lab)) return reports;
  Result<LinkTable> table = LinkTable::open(lab);
  if (!table.is_ok()) return table.take_status();
  for (int node = 0; node < lab.nodes; ++node) {
    for (const unsigned direction : kDirections)
      reports.push_back(
          {node, direction, table.value().settings(node, direction), table.value().counters(node, direction)});
  }
  return reports;
}

}  // namespace hocket::lab
