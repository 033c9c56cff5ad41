// SPDX-License-Identifier: BSD-3-Clause
// Cores that ranks share. A rank that has to wait yields: it goes to the end of the row, and the core looks at the next
// one after a switch. Where nobody in the row could go on, a core would only go round: it is parked, and when somebody
// can, the row stands as if it had gone round meanwhile.
#include <algorithm>

#include "simulation/engine/state.h"

namespace hocket::simulation {

void Engine::State::make_machines() {
  const bool is_one = network_.costs.one_machine != 0;
  if (is_one && network_.more.ranks_are_bound != 0) return make_bound_machines();
  if (!situation_.shares_cores) return;
  std::vector<std::vector<uint32_t>> ranks_of(is_one ? 1 : job_.nodes());
  size_t most = 0;
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    std::vector<uint32_t>& ranks = ranks_of[is_one ? 0 : job_.node_of[rank]];
    ranks.push_back(rank);
    most = std::max(most, ranks.size());
  }
  // The fullest is short of cores, whatever number the parameters say.
  const auto cores = static_cast<uint32_t>(std::clamp<size_t>(network_.costs.cores, 1, std::max<size_t>(most, 2) - 1));
  for (const std::vector<uint32_t>& ranks : ranks_of)
    if (ranks.size() > cores) add_machine(ranks, cores);
}

// A machine of one core each. Ranks that are alone there share it with what engines do on it, if anything.
void Engine::State::make_bound_machines() {
  const uint32_t cores = std::max(network_.costs.cores, 1u);
  for (uint32_t core = 0; core < cores; ++core) {
    std::vector<uint32_t> ranks;
    for (size_t rank = core; rank < ranks_.size(); rank += cores) ranks.push_back(static_cast<uint32_t>(rank));
    if (ranks.size() > 1 || (ranks.size() == 1 && network_.more.nic_on_ringing_core != 0)) add_machine(ranks, 1);
  }
}

void Engine::State::add_machine(const std::vector<uint32_t>& ranks, uint32_t cores) {
  const auto number = static_cast<uint32_t>(machines_.size());
  Machine& machine = machines_.emplace_back();
  if (ranks.size() > 1) machine.switching = prices_.switching_among((ranks.size() + cores - 1) / cores);
  for (const uint32_t rank : ranks) ranks_[rank].machine = number;
  for (uint32_t i = 0; i < cores; ++i) {
    machine.cores.push_back(static_cast<uint32_t>(cores_.size()));
    cores_.push_back({.machine = number, .is_parked = true});
  }
}

void Engine::State::come_to_row(uint32_t rank) {
  Rank& state = ranks_[rank];
  Machine& machine = machines_[state.machine];
  state.has_started = true;
  begin_stage(rank);
  if (state.is_finished) return;
  const bool can_go_on = state.ready.first != kNothing;
  if (can_go_on) {
    ++machine.ready;
    unpark(machine);
  }
  // Who has slept until now is preferred to those that have looked and yielded.
  outcome_.began[rank] > 0 && can_go_on ? machine.row.push_front(rank) : machine.row.push_back(rank);
}

void Engine::State::occupy(uint32_t rank, Time until) {
  Rank& state = ranks_[rank];
  state.clock = std::max(state.clock, until);
  if (state.machine != kNothing) cores_[state.core].busy_until = std::max(cores_[state.core].busy_until, until);
}

// Until a core that has looked in vain looks at the next one in the row, which may be the same if it is bound there.
Time Engine::State::turn_of(const Machine& machine) const {
  const bool is_alone = machine.cores.size() == 1 && machine.row.size() <= 1;
  return prices_.look + (is_alone ? 0 : machine.switching);
}

void Engine::State::unpark(Machine& machine) {
  const Time now = queue_.now();
  const Time turn = turn_of(machine);
  uint64_t looks = 0;
  for (const uint32_t number : machine.cores) {
    Core& core = cores_[number];
    if (!core.is_parked) continue;
    core.is_parked = false;
    // Where nobody stands in the row, nobody is looked at.
    const uint64_t its = turn == 0 || machine.row.empty() ? 0 : (now - core.parked_at + turn - 1) / turn;
    looks += its;
    push(std::max(core.parked_at + its * turn, now), What::kCore, number);
  }
  if (machine.row.empty()) return;
  const auto turned = static_cast<std::deque<uint32_t>::difference_type>(looks % machine.row.size());
  std::rotate(machine.row.begin(), machine.row.begin() + turned, machine.row.end());
}

void Engine::State::use_core(uint32_t number) {
  Core& core = cores_[number];
  if (core.busy_until > queue_.now()) return push(core.busy_until, What::kCore, number);
  if (core.running != kNothing) return run_on_core(number);
  Machine& machine = machines_[core.machine];
  if (machine.ready == 0) {
    core.is_parked = true;
    core.parked_at = queue_.now();
    return;
  }
  const uint32_t rank = machine.row.front();
  machine.row.pop_front();
  if (ranks_[rank].ready.first == kNothing) {
    machine.row.push_back(rank);
    return push(queue_.now() + turn_of(machine), What::kCore, number);
  }
  --machine.ready;
  core.running = rank;
  ranks_[rank].core = number;
  ranks_[rank].is_running = true;
  run_on_core(number);
}

void Engine::State::run_on_core(uint32_t number) {
  Core& core = cores_[number];
  const uint32_t rank = core.running;
  Rank& state = ranks_[rank];
  if (state.ready.first != kNothing) {
    do_ready(rank, queue_.now());
    if (!state.is_finished) return push(state.clock, What::kCore, number);
  } else {
    machines_[core.machine].row.push_back(rank);
  }
  state.is_running = false;
  core.running = kNothing;
  const Machine& machine = machines_[core.machine];
  const Time turn = state.is_finished ? machine.switching : turn_of(machine);
  push(std::max(state.clock, queue_.now()) + turn, What::kCore, number);
}

}  // namespace hocket::simulation
