// SPDX-License-Identifier: BSD-3-Clause
// The verifier's rules for plans that expect multicasts before they take them (Builder::expect).
//
// What is expected may be written at any time until it is taken, so nothing else touches it meanwhile; it is taken in
// the order in which it is expected, from one peer. What is passed on may be asked for until the last of it is done, so
// it stays as it is until then, and goes to one peer.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "schedule/verifier/world.h"

namespace hocket::schedule {

class MulticastRows {
 public:
  explicit MulticastRows(World& world) : world_(world), ranks_(world.size()) {}

  // kExpect: what its destination held is lost.
  void expect(Where where, Span destination);
  // A kFirstOf whose message has come but is not written yet.
  void take(Where where, Span destination);
  // A kSend to a kFirstOf.
  void pass_on(Where where, Span source);
  // When all steps are done.
  void check();

 private:
  struct Expected {
    Where where;
    Span destination;
  };
  struct PassedOn {
    Where where;
    Span source;
    std::vector<Cell> cells;
  };
  struct Rank {
    bool is_row = false;
    std::deque<Expected> expected;
    std::vector<PassedOn> passed_on;
    std::vector<Where> taken;
  };
  bool is_last_to_pass_on(Where where) const;

  World& world_;
  std::vector<Rank> ranks_;
};

}  // namespace hocket::schedule
