// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/loggops.h"

#include <algorithm>
#include <queue>

#include "simulation/goal/machines.h"
#include "simulation/goal/matching.h"
#include "simulation/goal/stuck.h"

namespace hocket::simulation {
namespace {

uint64_t sum(uint64_t a, uint64_t b) { return a > kBeyondNs - b ? kBeyondNs : a + b; }

// For all bytes of a message but the first.
uint64_t charge_ns(uint64_t bytes, uint64_t per_byte_ps) {
  if (bytes < 2) return 0;
  const auto ps = static_cast<unsigned __int128>(bytes - 1) * per_byte_ps;
  return static_cast<uint64_t>(std::min<unsigned __int128>((ps + 500) / 1000, kBeyondNs));
}

enum class EventKind : uint8_t {
  kOperation,  // it may start
  kArrival,    // of a send's message
  kLine,       // its first may have its turn
};

struct Event {
  uint64_t time_ns;
  uint64_t order;
  uint32_t subject;  // an operation, or a line
  EventKind kind;
};

struct IsLater {
  bool operator()(const Event& a, const Event& b) const {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.order > b.order;
  }
};

class Simulation {
 public:
  Simulation(const Goal& goal, const LogGops& parameters)
      : goal_(goal),
        parameters_(parameters),
        machines_(goal),
        matching_(goal),
        awaits_(goal.awaits),
        states_(goal.operations.size(), GoalState::kWaiting),
        ready_ns_(goal.operations.size(), 0) {}

  Result<GoalTimes> run() {
    for (uint32_t i = 0; i < awaits_.size(); ++i)
      if (awaits_[i] == 0) freed_.push_back(i);
    start_freed();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time_ns;
      serve(event);
      start_freed();
    }
    return outcome();
  }

 private:
  Result<GoalTimes> outcome() {
    const auto has_ended = [](GoalState state) { return state == GoalState::kEnded; };
    if (!std::ranges::all_of(states_, has_ended) || received_ != times_.messages)
      return Status(Code::kInvalidArgument, why_stuck(goal_, states_, matching_.received()));
    times_.finish_ns = machines_.finish_ns(goal_.ranks);
    times_.maximum_ns = *std::ranges::max_element(times_.finish_ns);
    times_.events = next_order_;
    if (times_.maximum_ns == kBeyondNs)
      return Status(Code::kInvalidArgument,
                    goal_.name + ": it takes longer than can be counted, 2^64 ns; make its operations smaller");
    return std::move(times_);
  }

  void serve(const Event& event) {
    if (event.kind == EventKind::kLine) return serve_line(event);
    const GoalOperation& operation = goal_.operations[event.subject];
    const bool is_arrival = event.kind == EventKind::kArrival;
    if (!is_arrival && operation.kind == GoalKind::kReceive) return post(event.subject);
    const uint32_t line = is_arrival ? machines_.arrival_line_of(event.subject) : machines_.line_of(event.subject);
    if (machines_.free_at(line) <= now_) return occupy(line, event.subject, is_arrival);
    machines_.add(line, {event.order, event.subject});
    if (machines_.first(line).order == event.order) show(line);
  }

  // The first of a line enters the queue of events.
  void show(uint32_t line) {
    const Turn turn = machines_.next_turn(line);
    events_.push({turn.time_ns, turn.order, line, EventKind::kLine});
  }

  void serve_line(const Event& event) {
    const uint32_t line = event.subject;
    if (!machines_.is_turn(line, {event.time_ns, event.order})) return;
    if (machines_.free_at(line) > now_) return show(line);
    const uint32_t operation = machines_.take_first(line).operation;
    occupy(line, operation, line != machines_.line_of(operation));
    if (!machines_.is_empty(line)) show(line);
  }

  void occupy(uint32_t line, uint32_t operation, bool is_arrival) {
    if (is_arrival) return arrive(line, operation);
    if (goal_.operations[operation].kind == GoalKind::kSend) return send(line, operation);
    const uint64_t end_ns = sum(now_, goal_.operations[operation].amount);
    machines_.occupy_cpu(line, end_ns);
    start(operation);
    end(operation, end_ns);
  }

  void send(uint32_t line, uint32_t operation) {
    const uint64_t bytes = goal_.operations[operation].amount;
    const uint64_t cpu_ns = sum(parameters_.overhead_ns, charge_ns(bytes, parameters_.overhead_per_byte_ps));
    machines_.occupy_cpu(line, sum(now_, cpu_ns));
    machines_.occupy_nic(line, sum(now_, sum(parameters_.gap_ns, charge_ns(bytes, parameters_.gap_per_byte_ps))));
    start(operation);
    const uint64_t arrival_ns = sum(now_, sum(parameters_.overhead_ns, parameters_.latency_ns));
    events_.push({arrival_ns, next_order_++, operation, EventKind::kArrival});
    ++times_.messages;
    times_.bytes = sum(times_.bytes, bytes);
    if (!is_rendezvous(operation)) end(operation, sum(now_, cpu_ns));
  }

  void arrive(uint32_t line, uint32_t send) {
    const uint64_t bytes = goal_.operations[send].amount;
    const uint64_t gap_ns = charge_ns(bytes, parameters_.gap_per_byte_ps);
    const uint64_t overhead_ns = charge_ns(bytes, parameters_.overhead_per_byte_ps);
    const uint64_t end_ns = sum(now_, sum(parameters_.overhead_ns, std::max(gap_ns, overhead_ns)));
    machines_.occupy_cpu(line, end_ns);
    machines_.occupy_nic(line, sum(now_, sum(parameters_.gap_ns, gap_ns)));
    const uint32_t receive = matching_.arrive(send);
    // For a receive to come: nothing else asks when a send could start once it has.
    ready_ns_[send] = end_ns;
    if (receive != Matching::kNobody) meet(send, receive);
  }

  void post(uint32_t receive) {
    start(receive);
    if (const uint32_t send = matching_.post(receive); send != Matching::kNobody) meet(send, receive);
  }

  void meet(uint32_t send, uint32_t receive) {
    ++received_;
    if (is_rendezvous(send)) {
      machines_.hold(machines_.line_of(send), now_);
      end(send, now_);
    }
    end(receive, std::max(now_, ready_ns_[send]));
  }

  bool is_rendezvous(uint32_t send) const { return goal_.operations[send].amount > parameters_.rendezvous_above_bytes; }

  void start(uint32_t operation) {
    states_[operation] = GoalState::kStarted;
    for (const uint32_t waiting : goal_.after_start.of(operation)) free(waiting, now_);
  }
  void end(uint32_t operation, uint64_t end_ns) {
    states_[operation] = GoalState::kEnded;
    for (const uint32_t waiting : goal_.after_end.of(operation)) free(waiting, end_ns);
  }
  void free(uint32_t operation, uint64_t from_ns) {
    ready_ns_[operation] = std::max(ready_ns_[operation], from_ns);
    if (--awaits_[operation] == 0) freed_.push_back(operation);
  }

  // Lower ranks first, in a rank by kind. Within a kind as std::sort leaves it, since that is what LogGOPSim does: up
  // to 16 operations of a rank keep their order, more need not.
  void order_freed() {
    if (freed_.size() < 2) return;
    const auto rank_of = [this](uint32_t operation) { return goal_.operations[operation].rank; };
    if (!std::ranges::is_sorted(freed_, {}, rank_of)) {  // by one event, of two ranks
      const uint32_t lower = *std::ranges::min_element(freed_, {}, rank_of);
      std::vector<uint32_t> ordered;
      for (const bool is_of_lower : {true, false})
        for (const uint32_t one : freed_)
          if ((rank_of(one) == rank_of(lower)) == is_of_lower) ordered.push_back(one);
      freed_.swap(ordered);
    }
    for (auto first = freed_.begin(); first != freed_.end();) {
      const auto last =
          std::find_if(first, freed_.end(), [&](uint32_t one) { return rank_of(one) != rank_of(*first); });
      std::sort(first, last,
                [this](uint32_t a, uint32_t b) { return goal_.operations[a].kind < goal_.operations[b].kind; });
      first = last;
    }
  }

  void start_freed() {
    order_freed();
    for (const uint32_t operation : freed_) {
      states_[operation] = GoalState::kReady;
      const uint64_t time_ns = std::max(machines_.free_at(machines_.line_of(operation)), ready_ns_[operation]);
      events_.push({time_ns, next_order_++, operation, EventKind::kOperation});
    }
    freed_.clear();
  }

  const Goal& goal_;
  const LogGops& parameters_;
  Machines machines_;
  Matching matching_;
  std::vector<uint32_t> awaits_;  // how many of an operation's dependencies haven't let it go on
  std::vector<GoalState> states_;
  std::vector<uint64_t> ready_ns_;  // when the last of them does; of a sent message, when it has been served
  std::vector<uint32_t> freed_;     // by the event that is being served
  std::priority_queue<Event, std::vector<Event>, IsLater> events_;
  uint64_t now_ = 0;
  uint64_t next_order_ = 0;
  uint64_t received_ = 0;
  GoalTimes times_;
};

}  // namespace

Result<GoalTimes> simulate(const Goal& goal, const LogGops& parameters) { return Simulation(goal, parameters).run(); }

}  // namespace hocket::simulation
