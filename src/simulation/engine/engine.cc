// SPDX-License-Identifier: BSD-3-Clause
// Ranks and their steps.
#include "simulation/engine/engine.h"

#include <algorithm>
#include <numeric>

#include "simulation/engine/state.h"

namespace hocket::simulation {

Engine::Engine(const Job& job, const Network& network, const Situation& situation)
    : state_(std::make_unique<State>(job, network, situation)) {}
Engine::~Engine() = default;
void Engine::observe(Observer* observer) { state_->observer = observer; }
void Engine::use(TriggeredEngine* engine) { state_->triggered = engine; }
Outcome Engine::run() { return state_->run(); }
Time Engine::now() const { return state_->now(); }
void Engine::call_at(Time time, uint64_t ticket) { state_->call_at(time, ticket); }
void Engine::complete(uint32_t step, Time time) { state_->complete(step, time); }
void Engine::occupy(uint32_t rank, Time until) { state_->occupy(rank, until); }

Engine::State::State(const Job& job, const Network& network, const Situation& situation)
    : job_(job),
      network_(network),
      situation_(situation),
      prices_(network),
      memory_(job, network.costs, !situation.shares_cores),
      wire_(job, prices_, network),
      counters_(job.counters) {
  resize_in_large_pages(steps_, job.steps.size());
  resize_in_large_pages(ranks_, job.ranks());
}

Outcome Engine::State::run() {
  outcome_.began.resize(ranks_.size());
  outcome_.ended.assign(ranks_.size(), kNever);
  if (observer != nullptr) left_.resize(steps_.size());
  make_machines();
  begin_ranks();
  while (!queue_.is_empty()) {
    ++outcome_.events;
    take(queue_.pop([this](const Event& event, size_t distance) { fetch(event, distance); }).event);
  }
  outcome_.is_finished = true;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    outcome_.is_finished &= ranks_[rank].is_finished;
    outcome_.waited.push_back(ranks_[rank].waited);
  }
  if (!outcome_.is_finished) outcome_.end = kNever;
  return std::move(outcome_);
}

// Of ranks that share cores, how they stand in the row.
std::vector<uint32_t> Engine::State::order_of_ranks() const {
  std::vector<uint32_t> order(ranks_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (machines_.empty()) return order;
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random_bits(situation_.seed, Purpose::kOrder, situation_.order, i) % i]);
  return order;
}

void Engine::State::begin_ranks() {
  const bool have_skew = !situation_.skew.is_nothing();
  for (const LateRank& late : situation_.late)
    if (late.rank < ranks_.size()) ranks_[late.rank].clock += late.by;
  for (const uint32_t rank : order_of_ranks()) {
    Rank& state = ranks_[rank];
    if (have_skew) state.clock += situation_.skew.draw(situation_.seed, Purpose::kSkew, rank);
    outcome_.began[rank] = state.clock;
    state.end = job_.begins[rank];
    state.last = job_.begins[rank + 1];
    state.is_scheduled = true;
    push(state.clock, What::kRank, rank);
  }
}

void Engine::State::take(const Event& event) {
  switch (event.what) {
    case What::kRank:
      ranks_[event.number].is_scheduled = false;
      return go_on(event.number);
    case What::kReady:
      if (steps_[event.number].progress == Progress::kWaiting || steps_[event.number].progress == Progress::kRung)
        make_ready(event.number);
      return;
    case What::kSend:
      if (const uint32_t rank = job_.steps[event.number].rank;
          waits_in_line(lines_out_, rank, wire_.sends_until(rank), What::kNextOut, event.number))
        return;
      return send_by_wire(event.number, queue_.now());
    case What::kArrive:
      if (const uint32_t rank = job_.steps[event.number].other;
          waits_in_line(lines_in_, rank, wire_.receives_until(rank), What::kNextIn, event.number))
        return;
      return receive(event.number);
    case What::kNextOut: {
      Line& line = lines_out_[event.number];
      send_by_wire(pop(line), queue_.now());
      return line.first == kNothing ? void() : push(wire_.sends_until(event.number), What::kNextOut, event.number);
    }
    case What::kNextIn: {
      Line& line = lines_in_[event.number];
      receive(pop(line));
      return line.first == kNothing ? void() : push(wire_.receives_until(event.number), What::kNextIn, event.number);
    }
    case What::kAdd:
      return add(event.number);
    case What::kCast:
      return cast(event.number);
    case What::kCore:
      return use_core(event.number);
    case What::kForeign: {
      free_tickets_.push_back(event.number);
      return triggered->happen(tickets_[event.number]);
    }
  }
}

void Engine::State::call_at(Time time, uint64_t ticket) {
  if (free_tickets_.empty()) {
    free_tickets_.push_back(static_cast<uint32_t>(tickets_.size()));
    tickets_.push_back(0);
  }
  const uint32_t place = free_tickets_.back();
  free_tickets_.pop_back();
  tickets_[place] = ticket;
  push(time, What::kForeign, place);
}

void Engine::State::complete(uint32_t step, Time time) { push(time, What::kReady, step); }

// The stage behind the current one.
void Engine::State::begin_stage(uint32_t rank) {
  Rank& state = ranks_[rank];
  state.begin = state.end;
  if (state.begin == state.last) return finish_rank(rank, state.clock);
  while (!job_.steps[state.end].is(Step::kEndsStage) && state.end + 1 < state.last) ++state.end;
  ++state.end;
  state.pending = state.end - state.begin;
  for (uint32_t step = state.begin; step < state.end; ++step) enter(rank, step);
}

// Its stage starts.
void Engine::State::enter(uint32_t rank, uint32_t step) {
  Rank& state = ranks_[rank];
  const Time from = available(step);
  if (from == kNever) return;
  if (from > state.clock) return push(std::max(from, queue_.now()), What::kReady, step);
  steps_[step].progress = Progress::kReady;
  append(state.ready, step);
}

void Engine::State::append(Line& line, uint32_t step) {
  steps_[step].link = kNothing;
  (line.last == kNothing ? line.first : steps_[line.last].link) = step;
  line.last = step;
}

uint32_t Engine::State::pop(Line& line) {
  const uint32_t step = line.first;
  line.first = steps_[step].link;
  if (line.first == kNothing) line.last = kNothing;
  return step;
}

void Engine::State::make_ready(uint32_t step) {
  const uint32_t rank = job_.steps[step].rank;
  Rank& state = ranks_[rank];
  const bool could_go_on = state.ready.first != kNothing;
  if (steps_[step].progress != Progress::kRung) steps_[step].progress = Progress::kReady;
  append(state.ready, step);
  if (state.machine == kNothing) {
    if (!state.is_scheduled) go_on(rank);
    return;
  }
  if (state.is_running || could_go_on) return;
  Machine& machine = machines_[state.machine];
  ++machine.ready;
  unpark(machine);
}

// A rank with a core of its own does what it can.
void Engine::State::go_on(uint32_t rank) {
  Rank& state = ranks_[rank];
  if (state.machine != kNothing) return come_to_row(rank);
  if (!state.has_started) {
    state.has_started = true;
    begin_stage(rank);
  }
  while (state.ready.first != kNothing) {
    const Time begin = std::max(state.clock, queue_.now());
    if (begin > queue_.now() && needs_turn(job_.steps[state.ready.first])) {
      state.is_scheduled = true;
      return push(begin, What::kRank, rank);
    }
    do_ready(rank, begin);
  }
}

// The first of what the rank can do.
void Engine::State::do_ready(uint32_t rank, Time begin) {
  Rank& state = ranks_[rank];
  const Time idle = state.clock;
  const uint32_t step = pop(state.ready);
  state.waited += begin - idle;
  const bool only_rings = job_.steps[step].work == Work::kTrigger && steps_[step].progress != Progress::kRung;
  state.clock = carry_out(step, begin);
  if (observer != nullptr) observer->did({step, idle, begin, state.clock, begin > idle ? cause_of(step) : kNothing});
  if (!only_rings && --state.pending == 0) begin_stage(rank);
}

Time Engine::State::noise_of(uint32_t step) const {
  return situation_.noise.is_nothing() ? 0 : situation_.noise.draw(situation_.seed, Purpose::kNoise, step);
}

Time Engine::State::carry_out(uint32_t number, Time begin) {
  const Step& step = job_.steps[number];
  if (step.work == Work::kTrigger) {
    if (steps_[number].progress == Progress::kRung) {
      steps_[number].progress = Progress::kDone;
      return begin + from_us(network_.more.nic_look_us);
    }
    steps_[number].progress = Progress::kRung;
    const Time end = begin + from_us(network_.more.nic_doorbell_us) + noise_of(number);
    triggered->ring(step.rank, number, end);
    return end;
  }
  const bool by_memory = needs_turn(step);
  const Time reached = by_memory ? memory_.reach(number, begin) : begin;
  Time end = reached + prices_.work_of(step) + noise_of(number);
  // Who has missed it takes a message.
  if (step.work == Work::kFirstOf && !comes_by_multicast(number)) end = end - prices_.alpha_of(step) + prices_.receive;
  if (by_memory) end = memory_.move(number, reached, end);
  if (step.work == Work::kTake && !step.is(Step::kByWire)) {
    // The rest of the message comes behind its first fragment.
    const Step& message = job_.steps[step.partner];
    const Time whole = message.is(Step::kCopies) ? prices_.copied(message.bytes) : 0;
    end = std::max(end, steps_[step.partner].there + whole);
  }
  steps_[number].progress = Progress::kDone;
  finish_step(number, end);
  // The message goes out while it is being written.
  return prices_.is_by_processor(step) ? end + wire_.alone(step.bytes) : end;
}

// What others may see of it.
void Engine::State::finish_step(uint32_t number, Time end) {
  const Step& step = job_.steps[number];
  switch (step.work) {
    case Work::kSend:
      if (!step.is(Step::kByWire)) return send_local(number, end);
      return wire_.has_own_way(step) ? send_by_wire(number, end) : push(end, What::kSend, number);
    case Work::kPublish:
      return publish(number, end);
    case Work::kPut:
    case Work::kAdd:
      if (step.other != kNothing) push(end, What::kAdd, number);
      return;
    case Work::kMulticast:
      return push(end, What::kCast, number);
    default:
      return;
  }
}

void Engine::State::finish_rank(uint32_t rank, Time end) {
  ranks_[rank].is_finished = true;
  outcome_.ended[rank] = end;
  outcome_.end = std::max(outcome_.end, end);
}

// What a step has waited for, that has let it go on.
uint32_t Engine::State::cause_of(uint32_t number) const {
  const Step& step = job_.steps[number];
  switch (step.work) {
    case Work::kTake:
    case Work::kRead:
    case Work::kPut:
      return step.partner;
    case Work::kWait:
      return counters_[step.other].last_step;
    case Work::kFirstOf:
      if (step.partner == kNothing || step.other == kNothing)
        return step.partner == kNothing ? step.other : step.partner;
      return steps_[step.partner].there < steps_[step.other].there ? step.partner : step.other;
    default:
      return kNothing;
  }
}

}  // namespace hocket::simulation
