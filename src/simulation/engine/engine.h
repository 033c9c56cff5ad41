// SPDX-License-Identifier: BSD-3-Clause
// The simulation: when each step of each rank of a job happens.
//
// Events are taken in the order of time, those of one time in the order in which they arose; so interfaces, links,
// lines and cores serve who comes first, and the same job, network and situation give the same result, to the
// picosecond. Ranks with cores of their own run ahead of the clock where nobody else can notice. Ranks that share cores
// (the cost model's `cores`) stand in a row: one that has to wait goes to its end, and the next one has the core after
// a switch.
//
// Thread safety: none; any number of simulations of one job may run side by side.
#pragma once

#include <memory>
#include <vector>

#include "simulation/core/distribution.h"
#include "simulation/engine/job.h"
#include "simulation/network/network.h"

namespace hocket::simulation {

// A rank that comes to the call later than the others.
struct LateRank {
  uint32_t rank = 0;
  Time by = 0;
};

// What happens beside what plans say.
struct Situation {
  uint64_t seed = 1;
  Distribution skew = {};           // how late each rank comes to the call
  std::vector<LateRank> late = {};  // besides; who is named twice comes later by both
  Distribution noise = {};          // what each step of a processor takes longer
  // In which order ranks that share cores stand in the beginning, which no schedule may count on: 0, 1, ...
  uint64_t order = 0;
  bool shares_cores = false;  // the ranks of a node share the cost model's `cores` if they are more
};

// What a step did, for who looks on.
struct StepTimes {
  uint32_t step;  // its number in the job
  Time waited;    // since when its rank had nothing else to do; `begin` if it had
  Time begin;
  Time end;
  uint32_t cause;  // the step that it has waited for, or kNothing
};
struct MessageTimes {
  uint32_t step;      // that sends it
  uint32_t receiver;  // rank
  Time left;
  Time there;  // kNever: lost
};
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void did(const StepTimes& times) = 0;
  virtual void carried(const MessageTimes& times) = 0;
};

// What carries out a job's steps of the kind kTrigger.
class TriggeredEngine {
 public:
  virtual ~TriggeredEngine() = default;
  // The rank has rung for its step, at this time.
  virtual void ring(uint32_t rank, uint32_t step, Time time) = 0;
  // An event of its own, asked for by Engine::call_at().
  virtual void happen(uint64_t ticket) = 0;
};

struct Outcome {
  bool is_finished = false;  // all ranks have come to their ends
  std::vector<Time> began;   // of each rank
  std::vector<Time> ended;   // of each rank; kNever: not
  std::vector<Time> waited;  // of each rank, of the time between
  Time end = 0;              // of the last
  uint64_t events = 0;
  uint64_t messages = 0;        // between nodes
  uint64_t bytes = 0;           // of these
  uint64_t local_messages = 0;  // and publications that somebody waited for are none
  uint64_t multicasts = 0;
  uint64_t missed = 0;    // by receivers
  uint64_t repeated = 0;  // messages, once for each time
};

class Engine {
 public:
  // Job and network outlive it.
  Engine(const Job& job, const Network& network, const Situation& situation);
  ~Engine();

  void observe(Observer* observer);
  void use(TriggeredEngine* engine);
  // Once.
  Outcome run();

  // --- for an engine that carries out triggered steps ---------------------------------------------------------
  Time now() const;
  void call_at(Time time, uint64_t ticket);
  // What was rung for is complete; the rank can see it from `time` on.
  void complete(uint32_t step, Time time);
  // The core on which the rank has rung works for the engine until then; the rank goes on after that. Said while it
  // does: within what was asked for at a time when it was busy already.
  void occupy(uint32_t rank, Time until);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace hocket::simulation
