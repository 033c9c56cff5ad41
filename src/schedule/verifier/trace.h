// SPDX-License-Identifier: BSD-3-Clause
// Which steps wait for which other ranks' steps, as the verifier finds out: what dumps draw.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/plan.h"
#include "schedule/verifier/verifier.h"

namespace hocket::schedule {

// Which step of which rank.
struct Where {
  uint32_t rank = 0;
  uint32_t step = 0;
};

enum class LinkKind : uint8_t {
  kMessage,    // send -> receive
  kRead,       // publish -> get or combine_from
  kReady,      // expose -> put
  kPut,        // put -> the owner's get from its own slot
  kSignal,     // add -> a wait that implies it
  kMulticast,  // multicast -> first_of, if it comes
};

struct Link {
  LinkKind kind;
  Where from;
  Where to;
  uint64_t elements;  // that move
};

struct Trace {
  Report report;            // links are missing where it has problems
  std::vector<Link> links;  // every link's `from` ends before its `to` ends
  // [rank][step]: how many steps the longest chain up to the step's end has.
  std::vector<std::vector<uint32_t>> levels;
};

Trace trace(std::span<const Plan> plans, uint64_t count);

}  // namespace hocket::schedule
