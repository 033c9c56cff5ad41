// SPDX-License-Identifier: BSD-3-Clause
// What a simulation knows while it runs. engine.cc has ranks and their steps, release.cc what lets others go on,
// cores.cc the cores that ranks share.
//
// Thread safety: none.
#pragma once

#include <deque>
#include <vector>

#include "simulation/core/event_queue.h"
#include "simulation/core/large_pages.h"
#include "simulation/engine/engine.h"
#include "simulation/engine/memory.h"
#include "simulation/engine/prices.h"
#include "simulation/engine/wire.h"

namespace hocket::simulation {

class Engine::State {
 public:
  State(const Job& job, const Network& network, const Situation& situation);

  Outcome run();

  Observer* observer = nullptr;
  TriggeredEngine* triggered = nullptr;

  Time now() const { return queue_.now(); }
  void call_at(Time time, uint64_t ticket);
  void complete(uint32_t step, Time time);
  void occupy(uint32_t rank, Time until);

 private:
  enum class What : uint32_t {
    kRank,     // goes on
    kReady,    // a step can be carried out
    kSend,     // a message goes out
    kArrive,   // a message comes to its receiver's interface
    kNextOut,  // a rank's next message can go out
    kNextIn,   // a rank's next message can come in
    kAdd,      // a step adds to its counter
    kCast,     // a multicast goes out
    kCore,     // the core of this number is free
    kForeign,  // the triggered engine's
  };
  struct Event {
    What what;
    uint32_t number;  // of the rank, step or core; of a foreign event, where its ticket is
  };
  // How far a step is.
  enum class Progress : uint8_t { kWaiting, kReady, kRung, kDone };
  struct StepState {
    // When who waits for it can go on. Of a publication, while that is not known: below kNever, by one and the number
    // of the first step that waits for it; so a step takes 16 bytes.
    Time there = kNever;
    uint32_t link = kNothing;  // the next in a list of steps
    Progress progress = Progress::kWaiting;

    static constexpr Time kLists = kNever - kNothing;
    Time known() const { return there >= kLists ? kNever : there; }
    uint32_t first_waiting() const {
      return there == kNever || there < kLists ? kNothing : static_cast<uint32_t>(kNever - 1 - there);
    }
    void set_first_waiting(uint32_t step) { there = kNever - 1 - step; }
  };
  // Steps one behind the other, by StepState::link.
  struct Line {
    uint32_t first = kNothing;
    uint32_t last = kNothing;
  };
  struct Rank {
    uint32_t begin = 0;  // of the current stage
    uint32_t end = 0;
    uint32_t last = 0;            // the end of its last stage
    uint32_t pending = 0;         // steps of it that are not done
    Line ready;                   // that can be carried out
    uint32_t machine = kNothing;  // whose cores it shares; kNothing: it has its own
    uint32_t core = kNothing;     // of these, the last that it was on
    Time clock = 0;               // until when it is busy
    Time waited = 0;
    bool has_started = false;
    bool is_scheduled = false;  // an event will have it go on
    bool is_running = false;    // on a shared core
    bool is_finished = false;
  };
  struct Counter {
    uint64_t sum = 0;
    uint32_t waiting = kNothing;  // the first of the steps
    uint32_t last_step = kNothing;
  };
  struct Core {
    uint32_t machine = 0;
    uint32_t running = kNothing;  // rank
    bool is_parked = false;       // nobody in the row can do anything
    Time parked_at = 0;
    Time busy_until = 0;  // for the triggered engine
  };
  struct Machine {
    std::deque<uint32_t> row;  // ranks that wait for a core
    uint32_t ready = 0;        // of these, that could go on
    std::vector<uint32_t> cores;
    Time switching = 0;
  };

  void append(Line& line, uint32_t step);
  uint32_t pop(Line& line);
  void push(Time time, What what, uint32_t number) { queue_.push(time, {what, number}); }
  std::vector<uint32_t> order_of_ranks() const;
  void begin_ranks();
  void take(const Event& event);
  // What it will be about, from memory, a while before it is taken.
  void fetch(const Event& event, size_t distance) const;

  // --- ranks (engine.cc) ---
  void begin_stage(uint32_t rank);
  void enter(uint32_t rank, uint32_t step);
  void make_ready(uint32_t step);
  void go_on(uint32_t rank);
  // Carries it out from `begin` on; when it ends.
  Time carry_out(uint32_t step, Time begin);
  void finish_step(uint32_t step, Time end);
  void finish_rank(uint32_t rank, Time end);
  void do_ready(uint32_t rank, Time begin);
  Time noise_of(uint32_t step) const;
  uint32_t cause_of(uint32_t step) const;
  bool needs_turn(const Step& step) const { return memory_.counts() && !step.is(Step::kByWire); }

  // --- what lets others go on (release.cc) ---
  Time available(uint32_t step);
  Time available_of_both(uint32_t step) const;
  bool comes_by_multicast(uint32_t step) const;
  void publish(uint32_t step, Time end);
  void release(uint32_t step, Time time);
  bool is_awaited_by(uint32_t step) const;
  void wake(uint32_t step, Time time);
  void wake_all(const std::vector<uint32_t>& last_first, Time time);
  void send_local(uint32_t step, Time end);
  // Whether it has to, for the rank's message before it, whose way ends at `until`. `next`: what happens then.
  bool waits_in_line(std::vector<Line>& lines, uint32_t rank, Time until, What next, uint32_t step);
  void send_by_wire(uint32_t step, Time time);
  void receive(uint32_t step);
  void cast(uint32_t step);
  bool reaches(uint32_t multicast, uint32_t rank) const;
  void add(uint32_t step);

  // --- shared cores (cores.cc) ---
  void make_machines();
  void make_bound_machines();
  void add_machine(const std::vector<uint32_t>& ranks, uint32_t cores);
  void come_to_row(uint32_t rank);
  void use_core(uint32_t core);
  void run_on_core(uint32_t core);
  void unpark(Machine& machine);
  Time turn_of(const Machine& machine) const;

  const Job& job_;
  const Network& network_;
  const Situation situation_;
  Prices prices_;
  Memory memory_;
  Wire wire_;
  EventQueue<Event> queue_;
  std::vector<StepState> steps_;
  std::vector<Rank> ranks_;
  std::vector<Counter> counters_;
  std::vector<Core> cores_;
  std::vector<Machine> machines_;
  std::vector<Line> lines_out_, lines_in_;  // of messages, by rank; empty where interfaces serve one at a time
  std::vector<Time> left_;                  // of messages, where somebody looks on
  std::vector<uint64_t> tickets_;
  std::vector<uint32_t> free_tickets_;
  Outcome outcome_;
};

}  // namespace hocket::simulation
