// SPDX-License-Identifier: BSD-3-Clause
// The engines of one communicator: which are in use, why others are not, and what they do together. A communicator
// within a node has none.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "carriers/engine.h"

namespace hocket::carriers {

class Engines {
 public:
  struct Entry {
    const EngineType* type = nullptr;
    std::unique_ptr<Engine> engine;  // nullptr: not in use
    std::string why_not;
  };
  Engines() = default;
  explicit Engines(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  // --- planning ------------------------------------------------------------------------------------------------------
  // Names the carrier of each step that leaves the node: in the order of carriers() or, where no engine carries it, the
  // wire behind them.
  void assign(engines::Program& program) const;
  // The engine that could carry out such a call itself; nullptr: none.
  const Engine* candidate(const EngineCall& call) const;
  struct EnginePlan {
    schedule::Plan plan;
    bool runs_by_itself;
  };
  // By the first engine that has one for the choice.
  std::optional<EnginePlan> plan(const selection::Choice& choice, const EngineCall& call,
                                 const schedule::Shape& shape) const;
  // As Engine has them.
  Status prepare(const Choices& choices);
  void adopt(bool is_used);
  // Whether calls may run by themselves.
  bool may_run_by_itself() const;
  // Whether an engine has rules under its own name (Engine::wire()), which come before those of what is beneath.
  bool have_rules() const;
  // Why no algorithm that multicasts can be used; "": it can.
  std::string why_no_multicast() const;
  // A line an engine, for the choice where there is one.
  std::string explain(const selection::Choice* choice, const EngineCall& call) const;

  // --- running -------------------------------------------------------------------------------------------------------
  // Of a track whose messages go by `channel`; asked once a track.
  std::vector<engines::Carrier*> carriers(uint32_t track, engines::wire::Channel& channel);

  // --- failure -------------------------------------------------------------------------------------------------------
  bool reports_failures() const;
  // Has other nodes learn of a failure, or finds that they do. False: no engine can tell them.
  bool report_failure();

 private:
  template <typename Test>
  bool any(const Test& test) const;

  std::vector<Entry> entries_;
};

}  // namespace hocket::carriers
