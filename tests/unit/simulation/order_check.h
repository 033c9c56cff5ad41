// SPDX-License-Identifier: BSD-3-Clause
// Whether the times that a simulation gives keep the order that plans ask for. What waits for what is found here by
// the rules of schedule/step.h, from the plans alone: not as the simulation's own jobs have it.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/interpreter.h"
#include "schedule/plan.h"
#include "simulation/engine/engine.h"

namespace hocket::simulation {

struct Watching : Observer {
  void did(const StepTimes& times) override { steps.push_back(times); }
  void carried(const MessageTimes& times) override { messages.push_back(times); }
  std::vector<StepTimes> steps;
  std::vector<MessageTimes> messages;
};

class OrderCheck {
 public:
  // All outlive it. `nodes` are those of the plans.
  OrderCheck(std::span<const schedule::Plan> plans, const schedule::Nodes& nodes, const Watching& seen,
             const Outcome& outcome);

  // "" or the first thing that is not as it must be.
  std::string problem();
  // All steps in the order of their ends, those of one time as the simulation came to them; if there is no problem.
  std::vector<algorithms::Interpreter::Turn> turns() const;

 private:
  using Turn = algorithms::Interpreter::Turn;
  using Taker = std::pair<uint32_t, uint32_t>;  // a step that multicasts, and a rank

  void find_steps();
  void check_ranks();
  void check_rank(uint32_t rank);
  void keep_messages();
  void match_messages();
  void check_multicasts();
  void check_message(uint32_t send, uint32_t receive);
  void check_first_of(uint32_t number, Time message);
  void check_publications();
  void check_use(uint32_t number, const schedule::Step& step);
  void check_counters();

  const schedule::Step& step_of(uint32_t number) const;
  bool is_by_wire(uint32_t number) const;
  void fail(uint32_t number, const std::string& what);

  std::span<const schedule::Plan> plans_;
  const schedule::Nodes& nodes_;
  const Watching& seen_;
  const Outcome& outcome_;
  std::vector<Turn> places_;           // of all steps, by number
  std::vector<uint32_t> begins_;       // of each rank, and the end of the last
  std::vector<StepTimes> times_;       // by number
  std::vector<MessageTimes> carried_;  // by the step that sends it, where that is one message
  std::map<Taker, Time> multicast_;
  std::string problem_;
};

}  // namespace hocket::simulation
