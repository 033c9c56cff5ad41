// SPDX-License-Identifier: BSD-3-Clause
// Which schedules between nodes the NIC engines of a communicator hold, as programs of its groups.
//
// All ranks come to the same programs: by plans, and by choices that are the same everywhere.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "carriers/engine.h"
#include "carriers/nic_type.h"
#include "engines/nic/port.h"
#include "engines/nic/stage_table.h"

namespace hocket::carriers {

// An algorithm as the engines hold it.
struct HeldProgram {
  const algorithms::Algorithm* algorithm;
  uint32_t degree;

  bool operator==(const HeldProgram&) const = default;
};

class NicPrograms {
 public:
  struct Program {
    HeldProgram held;
    uint8_t number;
    bool has_twin;  // one that synchronizes follows
    bool on_arrival;

    bool operator==(const Program&) const = default;
  };
  // `nodes` outlives them. Of the offers, that of rank 0.
  NicPrograms(const schedule::Nodes& nodes, const NicOffer& offer)
      : nodes_(&nodes),
        mode_(offer.mode),
        combines_on_arrival_(offer.combines_on_arrival),
        is_required_(offer.wish == NicWish::kOn) {}

  // Once: what is chosen, the barrier first, and then what else may be. Gives "", or why the engines are not to be
  // used: the barrier that is chosen can't be held or, if they are required, something that is forced.
  std::string fill(const Choices& choices);
  // What else is chosen by now, as far as there is room. Gives "", or what is forced and isn't held.
  std::string extend(const Choices& choices);
  // Of `self`.
  Status write(uint32_t self, engines::nic::GroupDescription& description) const;
  // That does what the choice does between nodes; nullptr: none.
  const Program* find(const selection::Choice& choice) const;
  // An algorithm, or some degree of it, is not held: of the first such. "": there is none.
  const std::string& why_not() const { return why_not_; }
  bool are_same(const NicPrograms& other) const { return programs_ == other.programs_; }

 private:
  std::optional<HeldProgram> held_for(const selection::Choice& choice) const;
  // "", or why not.
  std::string hold(HeldProgram wanted);
  std::string hold_barrier(const Choices& choices);
  std::string hold_chosen(schedule::Collective collective, const Choices& choices);
  void hold_others();
  engines::nic::Form form_of(const HeldProgram& held, bool synchronizes, bool on_arrival) const;
  // A barrier before which all are asked.
  bool is_voted(const HeldProgram& held) const;
  Status can_hold(const HeldProgram& wanted, bool has_twin, bool on_arrival) const;
  schedule::Plan plan_of(const HeldProgram& held, uint32_t member) const;

  const schedule::Nodes* nodes_;
  NicMode mode_;
  bool combines_on_arrival_;
  bool is_required_;
  std::vector<Program> programs_;
  uint32_t next_program_ = 0;
  std::string why_not_;
};

// What rules under wire=... call the engines.
inline constexpr const char* kNicWire = "nic";

}  // namespace hocket::carriers
