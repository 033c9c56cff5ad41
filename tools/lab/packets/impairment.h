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

enum class ImpairmentKind : uint8_t { kLoss, kDuplicate, kCorrupt, kCut, kDelay, kReorder };

struct Impairment {
  ImpairmentKind kind = ImpairmentKind::kLoss;
  int node = kAllNodes;
  uint64_t value = 0;            // a share of 2^32, nanoseconds for kDelay, 0 or 1 for kCut; 0 ends it
  uint64_t more_ns = 0;          // kDelay: jitter; kReorder: by how much later
  std::optional<uint64_t> seed;  // else the link's present one, 1 at first
  bool only_multicast = false;   // kLoss: nothing else is lost
};

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
