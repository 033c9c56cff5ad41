// SPDX-License-Identifier: BSD-3-Clause
// hocket lab status: the labs of this machine.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "command/command.h"
#include "lab/building/survey.h"
#include "lab/command/parts.h"
#include "lab/lab.h"
#include "lab/packets/impairment.h"
#include "lab/packets/relay.h"
#include "lab/words.h"

namespace hocket::command {
namespace {

using nlohmann::json;

json json_of_processes(const std::vector<lab::LabProcess>& processes) {
  json list = json::array();
  for (const lab::LabProcess& one : processes) {
    const std::string node = one.node == lab::kSwitchNode ? "switch" : lab::node_name(one.node);
    list.push_back({{"process", one.process}, {"node", node}, {"program", one.program}});
  }
  return list;
}

json effect_of(uint64_t setting, lab::Measure measure) {
  json one = {{"in_force", setting != 0}};
  std::string text = "off";
  if (measure == lab::Measure::kShare) {
    text = lab::percent_text(setting);
    one["percent"] = static_cast<double>(setting) / (static_cast<double>(lab::kWhole) / 100);
  } else if (measure == lab::Measure::kTime) {
    text = lab::duration_text(setting);
    one["ns"] = static_cast<double>(setting);
  }
  one["value"] = setting != 0 ? text : "ended";
  return one;
}

// What is in force on a link, and what has hit any packet.
json json_of_link(const lab::LinkReport& link) {
  json effects = json::object();
  for (const lab::ImpairmentFacts& facts : lab::kImpairments) {
    const uint64_t setting = link.settings.*facts.setting, hit = link.counters.*facts.counter;
    if (setting == 0 && hit == 0) continue;
    json one = effect_of(setting, facts.measure);
    one["packets"] = hit;
    effects[facts.name] = one;
  }
  for (const lab::FurtherTime& further : lab::kFurtherTimes) {
    const uint64_t setting = link.settings.*further.setting;
    if (setting != 0 && *further.effect != 0) effects[further.effect] = effect_of(setting, lab::Measure::kTime);
  }
  if (link.counters.crowded_out != 0) effects["crowded_out"] = {{"packets", link.counters.crowded_out}};
  return {{"node", lab::node_name(link.node)},
          {"direction", link.direction == LAB_FROM_NODE ? "from" : "to"},
          {"seed", link.settings.seed},
          {"packets", link.counters.packets},
          {"effects", effects}};
}

// Links on which anything is in force or has been, and the relay.
void add_impairments(const lab::Lab& lab, json& about) {
  about["links"] = json::array();
  const Result<std::vector<lab::LinkReport>> links = lab::report_links(lab);
  bool needs_relay = false;
  if (!links.is_ok()) {
    about["links_unknown"] = links.status().message();
  } else {
    for (const lab::LinkReport& link : links.value()) {
      needs_relay = needs_relay || lab::needs_relay(link.settings);
      if (const json one = json_of_link(link); !one["effects"].empty()) about["links"].push_back(one);
    }
  }
  const pid_t relay = lab::relay_process(lab);
  if (relay != 0) about["relay"] = relay;
  about["relay_is_missing"] = needs_relay && relay == 0;
}

// `missing`: "" or why the lab is stale.
json json_of(const std::string& name, const std::string& missing) {
  json about = {{"name", name}, {"stale", !missing.empty()}};
  if (!missing.empty()) about["missing"] = missing;
  about["processes"] = json_of_processes(lab::processes_in(lab::namespaces_of(name)));
  const Result<lab::Lab> loaded = lab::load(name);
  if (!loaded.is_ok() || !missing.empty()) return about;
  const lab::Lab& lab = loaded.value();
  about["subnet"] = lab.subnet_text();
  about["switch"] = lab::switch_name(lab.switch_kind);
  about["ranks_per_node"] = lab.ranks_per_node;
  const Result<std::vector<lab::PortTraffic>> traffic = lab::traffic_of(lab);
  about["nodes"] = json::array();
  for (int node = 0; node < lab.nodes; ++node) {
    const json ipv6 = lab::has_ipv6() ? json(lab.ipv6_address_text(node)) : json(nullptr);
    json one = {{"name", lab::node_name(node)}, {"address", lab.address_text(node)}, {"ipv6_address", ipv6}};
    if (traffic.is_ok()) {
      const lab::PortTraffic& passed = traffic.value()[static_cast<size_t>(node)];
      one["sent"] = {{"packets", passed.packets_from_node}, {"bytes", passed.bytes_from_node}};
      one["received"] = {{"packets", passed.packets_to_node}, {"bytes", passed.bytes_to_node}};
    }
    about["nodes"].push_back(one);
  }
  add_impairments(lab, about);
  return about;
}

unsigned long long number(const json& value) { return value.get<uint64_t>(); }

// "delay or reorder": those that the relay serves.
std::string names_of_held() {
  std::string names;
  for (const lab::ImpairmentFacts& facts : lab::kImpairments) {
    if (facts.relaying != lab::Relaying::kByRelay) continue;
    if (!names.empty()) names.insert(0, " or ");
    names.insert(0, facts.name);
  }
  return names;
}

void print_links(const json& about) {
  for (const json& link : about["links"]) {
    std::printf("  %s %s, %llu packets:", link["direction"].get<std::string>().c_str(),
                link["node"].get<std::string>().c_str(), number(link["packets"]));
    const char* separator = " ";
    for (const auto& [name, effect] : link["effects"].items()) {
      const std::string value = effect.contains("value") ? effect["value"].get<std::string>() : "";
      std::printf("%s%s%s%s", separator, name.c_str(), value.empty() ? "" : " ", value.c_str());
      if (effect.contains("packets")) std::printf(" (%llu hit)", number(effect["packets"]));
      separator = ", ";
    }
    std::printf("; seed %llu\n", number(link["seed"]));
  }
  if (about.contains("links_unknown"))
    std::printf("  what happens to packets is not known: %s\n", about["links_unknown"].get<std::string>().c_str());
  if (about["relay_is_missing"]) {
    std::printf(
        "  the relay is gone: packets that should come later are lost. Give the %s anew, or `hocket lab reset`\n",
        names_of_held().c_str());
  }
}

void print(const json& about) {
  const std::string name = about["name"];
  if (about["stale"]) {
    std::printf("lab %s is stale (%s); `hocket lab down %s` removes it\n", name.c_str(),
                about["missing"].get<std::string>().c_str(), name.c_str());
  } else {
    std::printf("lab %s: %zu nodes, %s, switch %s, %d ranks a node\n", name.c_str(), about["nodes"].size(),
                about["subnet"].get<std::string>().c_str(), about["switch"].get<std::string>().c_str(),
                about["ranks_per_node"].get<int>());
    std::printf("  %-5s %-15s %12s %14s %12s %14s\n", "node", "address", "packets out", "bytes out", "packets in",
                "bytes in");
    for (const json& node : about["nodes"]) {
      std::printf("  %-5s %-15s", node["name"].get<std::string>().c_str(), node["address"].get<std::string>().c_str());
      for (const char* way : {"sent", "received"}) {
        if (!node.contains(way)) continue;
        std::printf(" %12llu %14llu", number(node[way]["packets"]), number(node[way]["bytes"]));
      }
      std::printf("\n");
    }
    print_links(about);
  }
  for (const json& process : about["processes"])
    std::printf("  process %d (%s) in %s\n", process["process"].get<int>(),
                process["program"].get<std::string>().c_str(), process["node"].get<std::string>().c_str());
}

int execute(const std::string& name, bool as_json) {
  if (const Status status = lab::need_root(); !status.is_ok()) return fail(kFailure, status.message());
  std::vector<std::string> wanted = lab::names();
  if (!name.empty()) {
    const Result<lab::Lab> known = lab::load(name);
    if (!known.is_ok() && !lab::exists(name)) return fail(kFailure, known.status().message());
    wanted = {name};
  }
  json all = json::array();
  // A lab that is just being built or removed is not stale.
  const auto lock = wanted.empty() ? std::nullopt : std::optional(lab::Lock::take());
  if (lock && !lock->is_ok()) return fail(kFailure, lock->status().message());
  for (const std::string& one : wanted) {
    if (lab::exists(one)) all.push_back(json_of(one, lab::what_is_missing(one)));
  }
  if (lock) lock->value().tidy_up();  // where the last lab went while we waited
  if (as_json) {
    std::printf("%s\n", all.dump(2).c_str());
    return kSuccess;
  }
  if (all.empty()) std::printf("there is no lab; `hocket lab up 4` makes one\n");
  for (const json& about : all) print(about);
  return kSuccess;
}

}  // namespace

void add_lab_status(CLI::App& lab_command, Invocation& invocation) {
  auto* sub = lab_command.add_subcommand("status", "Labs, their nodes, and what runs and is in force there");
  auto name = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  add_which_lab(*sub, *name, "which (default: all)");
  sub->add_flag("--json", *as_json, "for programs");
  sub->callback([=, &invocation] { invocation.run = [=] { return execute(*name, *as_json); }; });
}

}  // namespace hocket::command
