// SPDX-License-Identifier: BSD-3-Clause
#include "lab/packets/impairment.h"

#include <algorithm>

#include "lab/packets/offloads.h"
#include "lab/packets/relay.h"
#include "lab/packets/switch_programs.h"
#include "lab/words.h"

namespace hocket::lab {
namespace {

constexpr unsigned kDirections[] = {LAB_FROM_NODE, LAB_TO_NODE};

void set_value(lab_settings& settings, const Impairment& impairment) {
  const uint64_t value = impairment.value;
  const uint64_t more_ns = value == 0 && impairment.kind == ImpairmentKind::kReorder ? 0 : impairment.more_ns;
  switch (impairment.kind) {
    case ImpairmentKind::kLoss:
      settings.loss = value;
      settings.lose_multicast_only = value != 0 && impairment.only_multicast ? 1 : 0;
      break;
    case ImpairmentKind::kDuplicate:
      settings.duplicate = value;
      break;
    case ImpairmentKind::kCorrupt:
      settings.corrupt = value;
      break;
    case ImpairmentKind::kCut:
      settings.is_cut = value;
      break;
    case ImpairmentKind::kDelay:
      settings.delay_ns = value;
      settings.jitter_ns = more_ns;
      break;
    case ImpairmentKind::kReorder:
      settings.hold_ns = more_ns;
      settings.reorder = value;
      break;
  }
}

bool is_anything_set(const lab_settings& settings) {
  return (settings.is_cut | settings.loss | settings.duplicate | settings.corrupt | settings.reorder |
          settings.delay_ns | settings.jitter_ns) != 0;
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

Status impose(const Lab& lab, const Impairment& impairment) {
  const bool ends = impairment.value == 0 && impairment.more_ns == 0;
  // Where nothing was ever in force there is nothing to end.
  if (ends && !has_programs(lab)) return Status::ok();
  HOCKET_TRY(load_programs(lab));
  Result<LinkTable> table = LinkTable::open(lab);
  if (!table.is_ok()) return table.take_status();
  const bool needs_relay = impairment.kind == ImpairmentKind::kDelay || impairment.kind == ImpairmentKind::kReorder;
  if (needs_relay && !ends) HOCKET_TRY(start_relay(lab));
  HOCKET_TRY(set_offloads(lab, false));
  const bool is_all = impairment.node == kAllNodes;
  // One that is cut off neither hears nor is heard.
  const bool both_ways = !is_all || impairment.kind == ImpairmentKind::kCut;
  const bool at_sender = both_ways || impairment.kind == ImpairmentKind::kDelay;
  const bool at_receiver = both_ways || impairment.kind != ImpairmentKind::kDelay;
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
  if (lab.switch_kind == SwitchKind::kBridge) return unload_programs(lab);
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
