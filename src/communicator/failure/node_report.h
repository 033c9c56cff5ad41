// SPDX-License-Identifier: BSD-3-Clause
// What ranks of different nodes report to each other beside their calls: that something has failed, that calls differ,
// which call a rank is in that has waited for long, who has come to that, and that it has been said who is late. The
// wire's notice announces a report, which follows under the same tag. A rank posts one receive for each notice that it
// takes.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engines/shared_memory/layout.h"
#include "engines/wire/wire.h"

namespace hocket::communicator {

struct NodeReport {
  // kPresent answers kCall: its sender has come to that call too, and so have those of its node that it names. kTold:
  // somebody has said who is late for it. kLate: the call ends, since ranks are late.
  enum Kind : uint32_t { kNone, kFailure, kMismatch, kCall, kPresent, kTold, kLate };
  static constexpr size_t kReasonBytes = 448;
  static constexpr uint64_t kCalls = engines::shared_memory::kSets;
  uint64_t communicator = 0;  // tags are used again: a report may come too late
  Kind kind = kNone;
  uint32_t from = 0;   // rank in the communicator
  uint32_t track = 0;  // kCall and its answers: which, and how many calls have been started there
  uint64_t number = 0;
  engines::shared_memory::CallSignature calls[kCalls];  // the last of these, each at its number modulo kCalls
  char reason[kReasonBytes] = {};  // kMismatch, kLate: the sentence. kPresent: a bit a place of the node

  void say(std::string_view text) { reason[text.copy(reason, kReasonBytes - 1)] = 0; }
  // Of places that there is no room for nothing is said.
  void say_present(uint32_t place) {
    if (place / 8 < kReasonBytes) reason[place / 8] = static_cast<char>(reason[place / 8] | 1 << place % 8);
  }
  bool is_present(uint32_t place) const {
    return place / 8 < kReasonBytes && (reason[place / 8] >> place % 8 & 1) != 0;
  }
};

class ReportChannel {
 public:
  ReportChannel(engines::wire::Wire& wire, uint32_t tag) : wire_(wire), tag_(tag) {}
  ~ReportChannel();

  // To a process by its number on the wire.
  Status send(uint32_t to, const NodeReport& report);
  // A report that has come; of kind kNone: none has. `from`: its sender, ~0u: none. A notice whose report doesn't
  // follow is kFailure.
  Result<NodeReport> take(uint32_t& from);
  // All that have come.
  void drop_all();

 private:
  struct Sent {
    NodeReport report;
    engines::wire::Ticket ticket = 0;
  };
  void sweep();

  engines::wire::Wire& wire_;
  uint32_t tag_;
  std::vector<std::unique_ptr<Sent>> sent_;  // under way
};

}  // namespace hocket::communicator
