// SPDX-License-Identifier: BSD-3-Clause
// The verifier's rules for memory that several ranks touch.
//
// An engine may let peers work on published memory in place, or copy it when it is published; either must do. So
// what is published must not change until its readers are done, and what is exposed is lost until the owner gets it
// from its own slot. Only each slot's latest version needs watching: a new version must wait for the users of the one
// before, and what comes after it in time comes after them too.
//
// Thread safety: one thread at a time; each call of verify() has its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/verifier/world.h"

namespace hocket::schedule {

class Slots {
 public:
  explicit Slots(World& world);

  // Has the step's peer come as far as that version?
  bool ready(const Step& step) const { return at(step.peer, step.slot).version >= step.version; }

  // kPublish, kExpose.
  void publish(Where where, const Operands& operands);
  // The clock of that publication.
  const uint32_t* clock(const Step& step) const { return world_.clocks.saved(at(step.peer, step.slot).clock); }
  // kGet, kCombineFrom, kPut: the cells to take from or put into, `length` of them, or nothing after a complaint.
  std::span<Cell> use(Where where, const Operands& operands, uint64_t length);

  // The rank's own steps touch its memory.
  void owner_reads(Where where, Span span) { owner_touches(where, span, false); }
  void owner_writes(Where where, Span span) { owner_touches(where, span, true); }

 private:
  struct Access {
    Where where;
    uint32_t stage;
    Span span;  // in the owner's memory for its own touches, within the publication for peers' uses
  };
  struct Publication {
    uint32_t version = 0;
    bool exposed = false;
    Where where;
    uint32_t stage = 0;
    Span memory;
    size_t clock = 0;
    uint32_t depth = 0;
    std::vector<Access> uses;     // by gets and puts
    std::vector<Access> touches;  // by the owner, since
    std::vector<Cell> put;        // what was put, where exposed
  };

  Publication& at(uint32_t rank, uint8_t slot) { return publications_[rank * slots_ + slot]; }
  const Publication& at(uint32_t rank, uint8_t slot) const { return publications_[rank * slots_ + slot]; }
  void owner_touches(Where where, Span span, bool writes);
  bool check_use(Where where, const Publication& publication, Span span);
  void check_put(Where where, const Publication& publication, Span span);
  void check_taken(Where where, Publication& publication, Span span);
  bool is_over(const Access& access, uint32_t rank) const {
    return world_.clocks.knows(rank, access.where.rank, access.stage);
  }

  World& world_;
  uint32_t slots_ = 0;
  std::vector<Publication> publications_;
  std::vector<bool> publishes_;  // ranks that have published anything
};

}  // namespace hocket::schedule
