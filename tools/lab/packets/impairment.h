// SPDX-License-Identifier: BSD-3-Clause
// What happens to packets on the links of a lab.
//
// A node's own impairment acts on its packets both ways; that of all nodes acts once on each packet: on the link to its
// receiver, so that one in many copies of a multicast is hit by itself, but a delay on the link from its sender, so
// that a multicast is held once and not once a copy. Each change begins to number the packets of its links anew, so
// that what follows can be repeated.
//
// Thread safety: one thread at a time; changes need the Lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "bpf/lab_port.h"
#include "lab/lab.h"
#include "lab/words.h"

namespace hocket::lab {

// kCut, kLoss, ...: of bpf/lab_impairments.def.
enum class ImpairmentKind : uint8_t {
#define LAB_IMPAIRMENT(kind, ...) k##kind,
#include "bpf/lab_impairments.def"
};

enum class Measure : uint8_t { kShare, kTime, kSwitch };
enum class Place : uint8_t { kAtReceiver, kAtSender, kAtBoth };
enum class Relaying : uint8_t { kAtOnce, kByRelay };
enum class Role : uint8_t { kOwn, kDetail };

// A line of the table.
struct ImpairmentFacts {
  ImpairmentKind kind;
  const char* name;
  Measure measure;
  __u64 lab_settings::* setting;
  __u64 lab_counters::* counter;
  Place place;
  Relaying relaying;
  const char* help;
};
struct FurtherTime {
  ImpairmentKind kind;
  const char* effect;
  const char* option;
  __u64 lab_settings::* setting;
  Role role;
  const char* preset;
  const char* help;
};
inline constexpr ImpairmentFacts kImpairments[] = {
#define LAB_IMPAIRMENT(kind, name, measure, setting, counter, place, relay, help)   \
  {ImpairmentKind::k##kind, #name,        Measure::measure, &lab_settings::setting, \
   &lab_counters::counter,  Place::place, Relaying::relay,  help},
#include "bpf/lab_impairments.def"
};
inline constexpr FurtherTime kFurtherTimes[] = {
#define LAB_FURTHER_TIME(kind, effect, option, setting, role, preset, help) \
  {ImpairmentKind::k##kind, effect, option, &lab_settings::setting, Role::role, preset, help},
#include "bpf/lab_impairments.def"
};
const ImpairmentFacts& facts_of(ImpairmentKind kind);
const FurtherTime* further_time_of(ImpairmentKind kind);  // nullptr: it has none

struct Impairment {
  ImpairmentKind kind = ImpairmentKind::kLoss;
  int node = kAllNodes;
  uint64_t value = 0;            // as its measure is: of 2^32, nanoseconds, 0 or 1; 0 ends it
  uint64_t more_ns = 0;          // its further time
  std::optional<uint64_t> seed;  // else the link's present one, 1 at first
  bool only_multicast = false;   // kLoss: nothing else is lost
};

// Of the word of a command: a share or a time.
Result<uint64_t> parse_value(ImpairmentKind kind, const std::string& word);
// Whether the relay has to hold packets of a link.
bool needs_relay(const lab_settings& settings);

// Loads programs and starts the relay where they are needed.
Status impose(const Lab& lab, const Impairment& impairment);
// Ends all of them, the relay too; counters are forgotten.
Status reset_impairments(const Lab& lab);

struct LinkReport {
  int node = 0;
  unsigned direction = LAB_TO_NODE;
  lab_settings settings = {};
  lab_counters counters = {};
};
// Of all links; empty where there are no programs.
Result<std::vector<LinkReport>> report_links(const Lab& lab);

}  // namespace hocket::lab
