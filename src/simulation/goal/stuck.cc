// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/stuck.h"

#include <algorithm>
#include <vector>

namespace hocket::simulation {
namespace {

std::string of_tag(uint32_t tag) { return tag == kAny ? " of any tag" : " with tag " + std::to_string(tag); }
std::string rank_text(uint32_t rank) { return rank == kAny ? "any rank" : "rank " + std::to_string(rank); }

bool fits(const GoalOperation& receive, const GoalOperation& send) {
  return send.kind == GoalKind::kSend && send.peer == receive.rank &&
         (receive.peer == kAny || receive.peer == send.rank) && (receive.tag == kAny || receive.tag == send.tag);
}

// Of each operation one that it waits for and that hasn't let it go on, else kAny.
std::vector<uint32_t> awaited_by(const Goal& goal, std::span<const GoalState> states) {
  std::vector<uint32_t> awaited(states.size(), kAny);
  for (uint32_t i = 0; i < states.size(); ++i) {
    if (states[i] == GoalState::kEnded) continue;
    for (const uint32_t waiting : goal.after_end.of(i)) awaited[waiting] = i;
    if (states[i] == GoalState::kStarted) continue;
    for (const uint32_t waiting : goal.after_start.of(i)) awaited[waiting] = i;
  }
  return awaited;
}

// An operation that waits for itself, by way of others, else kAny.
uint32_t one_in_circle(const std::vector<uint32_t>& awaited) {
  constexpr uint32_t kUnseen = kAny;
  std::vector<uint32_t> seen_from(awaited.size(), kUnseen);
  for (uint32_t i = 0; i < awaited.size(); ++i) {
    uint32_t one = i;
    for (; one != kAny && seen_from[one] == kUnseen; one = awaited[one]) seen_from[one] = i;
    if (one != kAny && seen_from[one] == i) return one;
  }
  return kAny;
}

std::string circle_text(const Goal& goal, uint32_t operation, const std::vector<uint32_t>& awaited) {
  constexpr int kMost = 8;
  std::string text = goal.place_of(operation) + ": it waits for itself";
  const char* mark = ", by way of ";
  uint32_t one = awaited[operation];
  for (int i = 0; i < kMost && one != operation; ++i, one = awaited[one]) {
    text.append(mark).append(goal.labels.c_str() + goal.operations[one].label);
    mark = ", ";
  }
  if (one != operation) text.append(" and others");
  return text.append("; take one of the dependencies out");
}

// What would let a started operation end is missing, or hasn't started.
std::string started_text(const Goal& goal, std::span<const GoalState> states, uint32_t operation) {
  const GoalOperation& one = goal.operations[operation];
  const bool is_send = one.kind == GoalKind::kSend;
  std::string text = goal.place_of(operation);
  if (is_send)
    text += ": no receive takes its message to rank " + std::to_string(one.peer) + of_tag(one.tag);
  else
    text += ": no message comes from " + rank_text(one.peer) + of_tag(one.tag);
  for (uint32_t i = 0; i < states.size(); ++i) {
    const GoalOperation& other = goal.operations[i];
    if (states[i] >= GoalState::kStarted ||
        !(is_send ? fits(other, one) && other.kind == GoalKind::kReceive : fits(one, other)))
      continue;
    return text + (is_send ? "; the receive " : "; the send ") + "that is meant never starts: " + goal.place_of(i);
  }
  return text + (is_send ? "; write a receive for it" : "; write a send for it");
}

}  // namespace

std::string why_stuck(const Goal& goal, std::span<const GoalState> states, std::span<const uint8_t> received) {
  const std::vector<uint32_t> awaited = awaited_by(goal, states);
  if (const uint32_t one = one_in_circle(awaited); one != kAny) return circle_text(goal, one, awaited);
  for (uint32_t i = 0; i < states.size(); ++i)
    if (states[i] == GoalState::kStarted) return started_text(goal, states, i);
  for (uint32_t i = 0; i < states.size(); ++i)
    if (goal.operations[i].kind == GoalKind::kSend && received[i] == 0) return started_text(goal, states, i);
  return goal.name;
}

}  // namespace hocket::simulation
