// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/matching.h"

namespace hocket::simulation {

Matching::Matching(const Goal& goal)
    : goal_(goal), channel_of_(goal.operations.size(), kNobody), received_(goal.operations.size(), 0) {
  for (size_t i = 0; i < goal.operations.size(); ++i) {
    const GoalOperation& one = goal.operations[i];
    if (one.kind == GoalKind::kSend) channel_of_[i] = channels_.number_of({one.peer, one.rank, one.tag});
    if (one.kind == GoalKind::kReceive) channel_of_[i] = channels_.number_of({one.rank, one.peer, one.tag});
    has_any_ |= one.kind == GoalKind::kReceive && (one.peer == kAny || one.tag == kAny);
  }
  receives_.resize(channels_.size());
  messages_.resize(channels_.size());
}

uint32_t Matching::post(uint32_t receive) {
  const uint32_t channel = channel_of_[receive];
  Queue& messages = messages_[channel];
  while (messages.first != kNobody) {
    const Entry entry = entries_[messages.first];
    messages.first = entry.next;
    if (received_[entry.operation] != 0) continue;  // by way of another queue
    received_[entry.operation] = 1;
    return entry.operation;
  }
  append(receives_[channel], receive);
  return kNobody;
}

uint32_t Matching::arrive(uint32_t send) {
  const Places places = places_of(send);
  Queue* earliest = nullptr;
  for (int i = 0; i < places.count; ++i) {
    Queue& queue = receives_[places.channel[i]];
    if (queue.first != kNobody && (earliest == nullptr || queue.first < earliest->first)) earliest = &queue;
  }
  if (earliest == nullptr) {
    for (int i = 0; i < places.count; ++i) append(messages_[places.channel[i]], send);
    return kNobody;
  }
  const Entry entry = entries_[earliest->first];
  earliest->first = entry.next;
  received_[send] = 1;
  return entry.operation;
}

Matching::Places Matching::places_of(uint32_t send) const {
  Places places = {{channel_of_[send]}, 1};
  if (!has_any_) return places;
  const GoalOperation& one = goal_.operations[send];
  for (const KeyTable::Key& key :
       {KeyTable::Key{one.peer, kAny, one.tag}, KeyTable::Key{one.peer, one.rank, kAny}, {one.peer, kAny, kAny}})
    if (const uint32_t channel = channels_.find(key); channel != KeyTable::kNone)
      places.channel[places.count++] = channel;
  return places;
}

void Matching::append(Queue& queue, uint32_t operation) {
  const auto entry = static_cast<uint32_t>(entries_.size());
  entries_.push_back({operation, kNobody});
  if (queue.first == kNobody)
    queue.first = entry;
  else
    entries_[queue.last].next = entry;
  queue.last = entry;
}

}  // namespace hocket::simulation
