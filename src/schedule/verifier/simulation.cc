// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/verifier/simulation.h"

#include <algorithm>
#include <utility>

namespace hocket::schedule {
namespace {

// For as long as a step's effect is worked out, after what it waited for.
class Assumption {
 public:
  Assumption(Clocks& clocks, const uint32_t* clock) : clocks_(clocks) { clocks_.assume(clock); }
  ~Assumption() { clocks_.forget(); }
  Assumption(const Assumption&) = delete;
  Assumption& operator=(const Assumption&) = delete;

 private:
  Clocks& clocks_;
};

}  // namespace

Simulation::Simulation(World& world, std::vector<std::vector<Operands>> operands)
    : world_(world),
      operands_(std::move(operands)),
      slots_(world),
      counters_(world),
      multicasts_(world),
      rows_(world),
      ranks_(world.size()),
      channels_(static_cast<size_t>(world.size()) * world.size()) {
  for (const Plan& plan : world.plans) next_.emplace_back(plan.steps.size());
}

bool Simulation::run() {
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    begin_stage(rank);
    ready_.push_back(rank);
  }
  for (;;) {
    while (!ready_.empty()) {
      const uint32_t rank = ready_.back();
      ready_.pop_back();
      advance(rank);
    }
    for (uint32_t rank = 0; rank < world_.size(); ++rank) {
      if (try_blocked(rank)) ready_.push_back(rank);
    }
    if (ready_.empty()) break;
  }
  const bool finished = std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.finished; });
  if (!finished) explain_deadlock();
  return finished;
}

void Simulation::begin_stage(uint32_t rank) {
  const std::vector<Step>& steps = world_.plans[rank].steps;
  Rank& state = ranks_[rank];
  state.begin = state.end;
  if (state.begin == steps.size()) {
    state.finished = true;
    return;
  }
  while (!steps[state.end++].ends_stage) {
  }
  state.pending = state.end - state.begin;
  check_stage(world_, rank, state.begin, state.end, operands_[rank]);
  for (uint32_t step = state.begin; step < state.end; ++step) start({rank, step});
}

// Goes on with as many stages as can be finished.
void Simulation::advance(uint32_t rank) {
  Rank& state = ranks_[rank];
  while (!state.finished) {
    try_blocked(rank);
    if (state.pending > 0) return;
    world_.clocks.finish_stage(rank);
    ++world_.stage[rank];
    world_.depth[rank] = world_.next_depth[rank];
    begin_stage(rank);
  }
}

void Simulation::done(uint32_t rank) {
  if (--ranks_[rank].pending == 0) ready_.push_back(rank);
}

void Simulation::start(Where where) {
  switch (world_.step(where).kind) {
    case StepKind::kSend:
    case StepKind::kReceive:
    case StepKind::kReceiveCombine:
      post(where);
      break;
    case StepKind::kFirstOf:
      multicasts_.expect(where);
      post(where);
      break;
    case StepKind::kGet:
    case StepKind::kPut:
    case StepKind::kCombineFrom:
    case StepKind::kWaitUntil:
      ranks_[where.rank].blocked.push_back(where.step);
      break;
    default:
      run_local(where);
      --ranks_[where.rank].pending;
  }
}

bool Simulation::is_ready(Where where) const {
  return world_.step(where).kind == StepKind::kWaitUntil ? counters_.ready(where) : slots_.ready(world_.step(where));
}

bool Simulation::try_blocked(uint32_t rank) {
  std::vector<uint32_t>& blocked = ranks_[rank].blocked;
  const size_t before = blocked.size();
  std::erase_if(blocked, [&](uint32_t step) {
    const Where where{rank, step};
    if (!is_ready(where)) return false;
    run_waiting(where);
    --ranks_[rank].pending;
    return true;
  });
  return blocked.size() != before;
}

// --- messages -------------------------------------------------------------------------------------------------

void Simulation::post(Where where) {
  const Step& step = world_.step(where);
  const bool sends = step.kind == StepKind::kSend;
  Channel& pair = sends ? channel(where.rank, step.peer) : channel(step.peer, where.rank);
  uint32_t& first = sends ? pair.first_send : pair.first_receive;
  uint32_t& last = sends ? pair.last_send : pair.last_receive;
  if (first == 0) {
    first = where.step + 1;
  } else {
    next_[where.rank][last - 1] = where.step + 1;
  }
  last = where.step + 1;
  if (sends) {
    match(where.rank, step.peer);
  } else {
    match(step.peer, where.rank);
  }
}

// Only steps of current stages are posted, so a send is matched when both sides are there: no buffering.
void Simulation::match(uint32_t from, uint32_t to) {
  Channel& pair = channel(from, to);
  while (pair.first_send != 0 && pair.first_receive != 0) {
    const Where send{from, pair.first_send - 1};
    const Where receive{to, pair.first_receive - 1};
    pair.first_send = next_[from][send.step];
    pair.first_receive = next_[to][receive.step];
    transfer(send, receive);
    done(from);
    done(to);
  }
}

// What the sender knew when its stage began is known to the receiver. Not the other way round: the send may have
// been buffered.
void Simulation::transfer(Where send, Where receive) {
  ++world_.report.messages;
  world_.deepen(send, 0);
  world_.link(LinkKind::kMessage, send, receive, operands(send).source.length);
  const Span source = operands(send).source;
  const Span destination = operands(receive).destination;
  if (source.length != destination.length) {
    world_.complain(send, "sends " + std::to_string(source.length) + " elements, but " + world_.mention(receive) +
                              " takes " + std::to_string(destination.length));
    return;
  }
  world_.report.elements_moved += source.length;
  slots_.owner_reads(send, source);
  const bool is_first_of = world_.step(receive).kind == StepKind::kFirstOf;
  // Engines may have the two of a chain talk about what is needed.
  if (world_.step(send).to_first_of != is_first_of)
    world_.complain(send, is_first_of ? "sends to a first_of; a chain's message is passed on"
                                      : "passes on, but " + world_.mention(receive) + " takes no first_of");
  if (is_first_of) {
    rows_.pass_on(send, source);
    rows_.take(receive, destination);
    take_first(send, receive);
  } else {
    take(send, receive);
  }
}

// As if the message came, but for what the receiver knows.
void Simulation::take_first(Where send, Where receive) {
  const auto [clock, depth] = multicasts_.arrive(receive, send);
  world_.clocks.acquire(receive.rank, clock);
  world_.deepen(receive, depth);
  const Assumption after_either(world_.clocks, clock);
  const std::span<const Cell> incoming = world_.cells(send.rank, operands(send).source);
  slots_.owner_writes(receive, operands(receive).destination);
  copy(send, send.rank, incoming, world_.cells(receive.rank, operands(receive).destination));
  multicasts_.taken(receive, incoming);
}

void Simulation::take(Where send, Where receive) {
  world_.clocks.acquire(receive.rank, world_.clocks.now(send.rank));
  world_.deepen(receive, world_.depth[send.rank]);
  const Span destination = operands(receive).destination;
  const Assumption after_send(world_.clocks, world_.clocks.now(send.rank));
  const std::span<const Cell> incoming = world_.cells(send.rank, operands(send).source);
  if (world_.step(receive).kind == StepKind::kReceiveCombine) {
    combine_incoming(receive, incoming);
  } else {
    slots_.owner_writes(receive, destination);
    copy(send, send.rank, incoming, world_.cells(receive.rank, destination));
  }
}

// --- slots, counters, local steps -------------------------------------------------------------------------------

void Simulation::run_waiting(Where where) {
  if (world_.step(where).kind == StepKind::kWaitUntil) {
    counters_.wait(where);
  } else {
    run_one_sided(where);
  }
}

void Simulation::run_one_sided(Where where) {
  const Step& step = world_.step(where);
  const Operands& spans = operands(where);
  const bool puts = step.kind == StepKind::kPut;
  const uint64_t length = puts ? spans.source.length : spans.destination.length;
  const Assumption after_publication(world_.clocks, slots_.clock(step));
  world_.clocks.acquire(where.rank, slots_.clock(step));
  const std::span<Cell> remote = slots_.use(where, spans, length);
  if (remote.size() != length) return;
  if (step.peer != where.rank) {
    ++world_.report.messages;
    world_.report.elements_moved += length;
  }
  if (step.kind == StepKind::kCombineFrom) {
    combine_incoming(where, remote);
  } else if (puts) {
    slots_.owner_reads(where, spans.source);
    copy(where, where.rank, world_.cells(where.rank, spans.source), remote);
  } else {
    slots_.owner_writes(where, spans.destination);
    copy(where, step.peer, remote, world_.cells(where.rank, spans.destination));
  }
}

void Simulation::run_local(Where where) {
  const Step& step = world_.step(where);
  const Operands& spans = operands(where);
  switch (step.kind) {
    case StepKind::kPublish:
    case StepKind::kExpose:
      slots_.publish(where, spans);
      break;
    case StepKind::kAdd:
      counters_.add(where);
      break;
    case StepKind::kMulticast:
      slots_.owner_reads(where, spans.source);
      multicasts_.send(where, spans.source);
      break;
    case StepKind::kExpect:
      slots_.owner_writes(where, spans.destination);
      rows_.expect(where, spans.destination);
      break;
    case StepKind::kCopy:
      world_.deepen(where, 0);
      slots_.owner_reads(where, spans.source);
      if (!same(spans.source, spans.destination)) slots_.owner_writes(where, spans.destination);
      copy(where, where.rank, world_.cells(where.rank, spans.source), world_.cells(where.rank, spans.destination));
      break;
    case StepKind::kCombine: {
      world_.deepen(where, 0);
      slots_.owner_reads(where, spans.source);
      slots_.owner_writes(where, spans.destination);
      const std::span<Cell> source = world_.cells(where.rank, spans.source);
      const std::span<Cell> destination = world_.cells(where.rank, spans.destination);
      combine(where, step.incoming_left ? source : destination, step.incoming_left ? destination : source, destination);
      break;
    }
    default:
      break;
  }
}

// --- values -------------------------------------------------------------------------------------------------------

void Simulation::copy(Where where, uint32_t from_rank, std::span<const Cell> source, std::span<Cell> destination) {
  bool complained = false;
  for (size_t i = 0; i < source.size(); ++i) {
    destination[i] = source[i];
    if (source[i].value != Contributions::kUndefined) continue;
    destination[i].value = Contributions::kPoison;
    if (complained) continue;
    complained = true;
    world_.complain(where, "moves undefined data: element " + std::to_string(i) + " of " +
                               std::to_string(source.size()) + " that rank " + std::to_string(from_rank) + " gives");
  }
}

void Simulation::combine_incoming(Where where, std::span<const Cell> incoming) {
  const Operands& spans = operands(where);
  slots_.owner_reads(where, spans.source);
  slots_.owner_writes(where, spans.destination);
  const std::span<const Cell> local = world_.cells(where.rank, spans.source);
  const bool incoming_left = world_.step(where).incoming_left;
  combine(where, incoming_left ? incoming : local, incoming_left ? local : incoming,
          world_.cells(where.rank, spans.destination));
}

void Simulation::combine(Where where, std::span<const Cell> left, std::span<const Cell> right,
                         std::span<Cell> destination) {
  const char* reason = nullptr;
  Contributions::Id last_left = Contributions::kUndefined;
  Contributions::Id last_right = Contributions::kUndefined;
  Contributions::Id last = Contributions::kUndefined;
  for (size_t i = 0; i < destination.size(); ++i) {
    const Cell a = left[i];
    const Cell b = right[i];
    const char* problem = nullptr;
    if (a.value == Contributions::kUndefined || b.value == Contributions::kUndefined) {
      problem = "combines undefined data";
    } else if (a.value == Contributions::kPoison || b.value == Contributions::kPoison) {
      last = last_left = last_right = Contributions::kPoison;
    } else if (a.element != b.element) {
      problem = "combines different elements of the vectors";
    } else if (a.value != last_left || b.value != last_right) {
      last_left = a.value;
      last_right = b.value;
      last = world_.contributions.combine(a.value, b.value, problem);
    }
    if (problem != nullptr) {
      last = last_left = last_right = Contributions::kPoison;
      if (reason == nullptr) {
        world_.complain(where, std::string(problem) + ": " + world_.contributions.text(a.value) + " (element " +
                                   std::to_string(a.element) + ") with " + world_.contributions.text(b.value) +
                                   " (element " + std::to_string(b.element) + ")");
      }
      reason = problem;
    }
    destination[i] = {a.element, last};
  }
}

// --- deadlocks ------------------------------------------------------------------------------------------------------

std::string Simulation::explain_blocked(Where where) const {
  const Step& step = world_.step(where);
  const bool on_counter = step.kind == StepKind::kWaitUntil;
  const bool peer_ended = !on_counter && ranks_[step.peer].finished;
  return "waits forever" + (peer_ended ? ": rank " + std::to_string(step.peer) + " ends without doing its part" : "");
}

void Simulation::explain_deadlock() {
  for (uint32_t rank = 0; rank < world_.size(); ++rank) {
    std::vector<uint32_t> stuck = ranks_[rank].blocked;
    for (uint32_t peer = 0; peer < world_.size(); ++peer) {
      if (const uint32_t send = channel(rank, peer).first_send; send != 0) stuck.push_back(send - 1);
      if (const uint32_t receive = channel(peer, rank).first_receive; receive != 0) stuck.push_back(receive - 1);
    }
    for (const uint32_t step : stuck) world_.complain({rank, step}, explain_blocked({rank, step}));
  }
}

}  // namespace hocket::schedule
