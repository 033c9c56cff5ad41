// SPDX-License-Identifier: BSD-3-Clause
#include "nic/report.h"

#include <arpa/inet.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "nic/next_hop.h"

namespace hocket::nic {
namespace {

constexpr const char* kNames[] = {"taken",       "duplicate",  "stale",        "early",      "broken",   "misdirected",
                                  "no_program",  "unexpected", "disagreement", "unsound",    "rejected", "too_many",
                                  "out_of_turn", "contended",  "unknown_kind", "bad_length", "bad_tag",  "no_group",
                                  "no_room",     "sent",       "resent",       "replied",    "woken",    "bells",
                                  "operations",  "kept",       "in_driver",    "asked"};
static_assert(std::size(kNames) == NIC_COUNTERS);

}  // namespace

std::string report_as_json(const Engine& engine, const uid_t* user) {
  nlohmann::ordered_json report;
  report["interface"] = engine.interface();
  report["engine"] = engine.kind();
  report["place"] = engine.place();
  report["address"] = ip_text(engine.address().ip) + ":" + std::to_string(ntohs(engine.address().port));
  report["free_groups"] = engine.free_groups();
  report["groups"] = nlohmann::ordered_json::array();
  for (const GroupReport& group : engine.groups()) {
    if (user != nullptr && group.user != *user) continue;
    char id[17];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(group.id));
    report["groups"].push_back({{"id", id},
                                {"user", group.user},
                                {"member", group.self},
                                {"size", group.size},
                                {"started", group.started},
                                {"completed", group.completed},
                                {"is_broken", group.broken != 0},
                                {"is_leaving", group.is_leaving}});
  }
  const Counters counters = engine.counters();
  for (uint32_t i = 0; i < NIC_COUNTERS; ++i) report["counters"][kNames[i]] = counters[i];
  return report.dump();
}

}  // namespace hocket::nic
