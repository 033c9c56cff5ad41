// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/machines.h"

#include <algorithm>

namespace hocket::simulation {
namespace {

// The heap's top is the one of the smallest order.
bool is_later(const Waiter& a, const Waiter& b) { return a.order > b.order; }

}  // namespace

Machines::Machines(const Goal& goal) : line_of_(goal.operations.size()), arrival_line_of_(goal.operations.size()) {
  KeyTable lines;
  for (size_t i = 0; i < goal.operations.size(); ++i) {
    const GoalOperation& one = goal.operations[i];
    const bool is_send = one.kind == GoalKind::kSend;
    const uint32_t nic =
        is_send ? parts_.number_of({one.rank, kSendingNic, one.nic}) : parts_.number_of({one.rank, kNoNic, 0});
    line_of_[i] = line_with(lines, parts_.number_of({one.rank, kCpu, one.cpu}), nic);
    if (!is_send) continue;
    arrival_line_of_[i] = line_with(lines, parts_.number_of({one.peer, kCpu, one.cpu}),
                                    parts_.number_of({one.peer, kReceivingNic, one.nic}));
  }
  free_at_.assign(parts_.size(), 0);
}

uint32_t Machines::line_with(KeyTable& lines, uint32_t cpu, uint32_t nic) {
  const uint32_t line = lines.number_of({cpu, nic, 0});
  if (line == lines_.size()) lines_.push_back({cpu, nic, {}, {}});
  return line;
}

uint64_t Machines::free_at(uint32_t line) const {
  return std::max(free_at_[lines_[line].cpu], free_at_[lines_[line].nic]);
}

void Machines::hold(uint32_t line, uint64_t until) {
  for (const uint32_t part : {lines_[line].cpu, lines_[line].nic}) free_at_[part] = std::max(free_at_[part], until);
}

void Machines::add(uint32_t line, Waiter waiter) {
  std::vector<Waiter>& waiting = lines_[line].waiting;
  waiting.push_back(waiter);
  std::push_heap(waiting.begin(), waiting.end(), is_later);
}

Waiter Machines::take_first(uint32_t line) {
  std::vector<Waiter>& waiting = lines_[line].waiting;
  std::pop_heap(waiting.begin(), waiting.end(), is_later);
  const Waiter first = waiting.back();
  waiting.pop_back();
  lines_[line].turn = {};
  return first;
}

std::vector<uint64_t> Machines::finish_ns(uint32_t ranks) const {
  std::vector<uint64_t> finish(ranks, 0);
  for (uint32_t i = 0; i < parts_.size(); ++i) {
    const KeyTable::Key& part = parts_.key(i);
    if (part.second == kCpu) finish[part.first] = std::max(finish[part.first], free_at_[i]);
  }
  return finish;
}

}  // namespace hocket::simulation
